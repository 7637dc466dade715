! LU factorisation of a dense matrix with partial pivoting, column by column, and
! the solution of one system. The size is the argument; arrays are allocatable.
program lufact
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer :: n, i, j, status
  integer, allocatable :: pivot(:)
  real(dp), allocatable :: a(:, :), b(:)
  real(dp) :: worst
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 2) then
    print '(a)', 'usage: lufact N, at least 2'
    stop 2
  end if
  allocate (a(n, n), b(n), pivot(n))
  do j = 1, n
    do i = 1, n
      a(i, j) = modulo(i*37 + j*91 + i*j, 101)/101d0 - 0.5d0
    end do
    i = 1 + modulo(j + n/3, n) ! the pivot of column j, if nothing else is
    a(i, j) = a(i, j) + n
  end do
  b = 0
  do j = 1, n
    b = b + a(:, j)*(1 + modulo(j, 4))
  end do
  call factorise(a, pivot, n)
  call solve(a, pivot, b, n)
  worst = 0
  do i = 1, n
    worst = max(worst, abs(b(i) - (1 + modulo(i, 4))))
  end do
  print '(a,i0,a,es8.1)', 'lufact: n ', n, ', error', worst
  if (.not. worst < 1d-8) stop 1

contains

  subroutine factorise(a, pivot, n)
    integer, intent(in) :: n
    real(dp), intent(inout) :: a(n, n)
    integer, intent(out) :: pivot(n)
    integer :: i, j, k, p
    real(dp) :: t

    do k = 1, n
      p = k
      do i = k + 1, n
        if (abs(a(i, k)) > abs(a(p, k))) p = i
      end do
      pivot(k) = p
      if (p /= k) then
        do j = 1, n
          t = a(k, j)
          a(k, j) = a(p, j)
          a(p, j) = t
        end do
      end if
      do i = k + 1, n
        a(i, k) = a(i, k)/a(k, k)
      end do
      do j = k + 1, n
        t = a(k, j)
        do i = k + 1, n
          a(i, j) = a(i, j) - a(i, k)*t
        end do
      end do
    end do
  end subroutine

  ! solve replaces b by the solution.
  subroutine solve(a, pivot, b, n)
    integer, intent(in) :: n, pivot(n)
    real(dp), intent(in) :: a(n, n)
    real(dp), intent(inout) :: b(n)
    integer :: i, k
    real(dp) :: t

    do k = 1, n
      t = b(k)
      b(k) = b(pivot(k))
      b(pivot(k)) = t
    end do
    do k = 1, n
      do i = k + 1, n
        b(i) = b(i) - a(i, k)*b(k)
      end do
    end do
    do k = n, 1, -1
      b(k) = b(k)/a(k, k)
      do i = 1, k - 1
        b(i) = b(i) - a(i, k)*b(k)
      end do
    end do
  end subroutine
end program
