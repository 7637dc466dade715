! A general linear recurrence: each element of w is a constant and the sum of all before,
! weighted by a column of a triangular matrix and taken from the latest to the first. The
! matrix is of n x n elements, n is the argument, and is gone through for some constants in
! turn. Arrays are allocatable.
program convolved
  implicit none
  integer, parameter :: dp = kind(1d0), repeats = 5
  integer :: n, t, status
  real(dp), allocatable :: b(:, :), w(:), earlier(:)
  real(dp) :: error
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 3 .or. n > 20000) then
    print '(a)', 'usage: convolved N, from 3'
    stop 2
  end if
  allocate (b(n, n), w(n), earlier(n))
  call fill(b)
  error = 0
  do t = 1, repeats
    call recur(b, constant(t), w)
    if (t == 2) earlier = w
    ! All is linear in the constant.
    if (t > 2) error = error + sum(abs(w/constant(t) - earlier/constant(2)))/n
  end do
  error = error + residual(b, constant(repeats), w)
  print '(a,i0,a,f0.9,a,es8.1)', 'convolved: n ', n, ', last ', w(n), ', error ', error
  if (.not. error < 1d-11 .or. .not. maxval(abs(w)) > 0) stop 1

contains

  real(dp) function constant(t)
    integer, intent(in) :: t

    constant = 0.01d0*t
  end function

  ! fill makes up weights that nearly cancel, so that sums of all stay small.
  subroutine fill(b)
    real(dp), intent(out) :: b(:, :)
    integer :: i, j, m

    m = 5
    do j = 1, size(b, 2)
      do i = 1, size(b, 1)
        m = modulo(m*3 + 7, 1009)
        b(i, j) = (m - 504)/(504d0*(1 + j))
      end do
    end do
  end subroutine

  subroutine recur(b, c, w)
    real(dp), intent(in) :: b(:, :), c
    real(dp), intent(out) :: w(:)
    integer :: i, k

    w(1) = c
    do i = 2, size(w)
      w(i) = c
      do k = 1, i - 1
        w(i) = w(i) + b(i, k)*w(i - k)
      end do
    end do
  end subroutine

  ! residual returns by how much w misses what its sums give, by columns.
  real(dp) function residual(b, c, w)
    real(dp), intent(in) :: b(:, :), c, w(:)
    real(dp) :: sums(size(w))
    integer :: k, n

    n = size(w)
    sums = c
    do k = 1, n - 1
      sums(k + 1:n) = sums(k + 1:n) + b(k + 1:n, k)*w(1:n - k)
    end do
    residual = sum(abs(sums - w))/n
  end function
end program
