! Conjugate gradients for Poisson's equation on an n x n x n mesh, without a stored
! matrix. The size is read from the file that the argument names; arrays are
! allocatable, with a layer of zeros around the mesh.
program cgmesh
  implicit none
  integer, parameter :: dp = kind(1d0), steps = 5
  integer :: n, i, j, k, t, unit, status
  real(dp), allocatable :: x(:, :, :), r(:, :, :), p(:, :, :), q(:, :, :), b(:, :, :)
  real(dp) :: rr, before, alpha, worst, energy, last
  logical :: falls
  character(256) :: path

  call get_command_argument(1, path)
  n = 0
  open (newunit=unit, file=trim(path), status='old', action='read', iostat=status)
  if (status == 0) then
    read (unit, *, iostat=status) n
    close (unit)
  end if
  if (status /= 0 .or. n < 4) then
    print '(a)', 'usage: cgmesh FILE, which holds the edge of the mesh, at least 4'
    stop 2
  end if
  allocate (x(0:n + 1, 0:n + 1, 0:n + 1), r(0:n + 1, 0:n + 1, 0:n + 1), p(0:n + 1, 0:n + 1, 0:n + 1), &
    q(0:n + 1, 0:n + 1, 0:n + 1), b(0:n + 1, 0:n + 1, 0:n + 1))
  x = 0
  b = 0
  q = 0
  do k = 1, n
    do j = 1, n
      do i = 1, n
        b(i, j, k) = modulo(i*3 + j*5 + k*7, 11) - 5
      end do
    end do
  end do
  r = b
  p = b
  rr = dot(r, r)
  falls = .true.
  last = 0
  do t = 1, steps
    call apply(p, q)
    alpha = rr/dot(p, q)
    call add(x, alpha, p)
    call add(r, -alpha, q)
    before = rr
    rr = dot(r, r)
    ! x'Ax/2 - b'x falls with each step.
    energy = -0.5_dp*(dot(b, x) + dot(r, x))
    falls = falls .and. energy < last
    last = energy
    call direction(p, rr/before, r)
  end do
  call apply(x, q)
  worst = 0
  do k = 1, n
    do j = 1, n
      do i = 1, n
        worst = max(worst, abs(b(i, j, k) - q(i, j, k) - r(i, j, k)))
      end do
    end do
  end do
  print '(a,i0,a,es8.1,a,l1)', 'cgmesh: n ', n, ', residual off by', worst, ', energy falls ', falls
  if (.not. (worst < 1d-12*n .and. falls)) stop 1

contains

  subroutine apply(u, v)
    real(dp), intent(in) :: u(0:n + 1, 0:n + 1, 0:n + 1)
    real(dp), intent(inout) :: v(0:n + 1, 0:n + 1, 0:n + 1)
    integer :: i, j, k

    do k = 1, n
      do j = 1, n
        do i = 1, n
          v(i, j, k) = 6*u(i, j, k) - u(i - 1, j, k) - u(i + 1, j, k) - u(i, j - 1, k) - u(i, j + 1, k) &
            - u(i, j, k - 1) - u(i, j, k + 1)
        end do
      end do
    end do
  end subroutine

  real(dp) function dot(u, v)
    real(dp), intent(in) :: u(0:n + 1, 0:n + 1, 0:n + 1), v(0:n + 1, 0:n + 1, 0:n + 1)
    integer :: i, j, k

    dot = 0
    do k = 1, n
      do j = 1, n
        do i = 1, n
          dot = dot + u(i, j, k)*v(i, j, k)
        end do
      end do
    end do
  end function

  ! add adds a v to u.
  subroutine add(u, a, v)
    real(dp), intent(inout) :: u(0:n + 1, 0:n + 1, 0:n + 1)
    real(dp), intent(in) :: a, v(0:n + 1, 0:n + 1, 0:n + 1)
    integer :: i, j, k

    do k = 1, n
      do j = 1, n
        do i = 1, n
          u(i, j, k) = u(i, j, k) + a*v(i, j, k)
        end do
      end do
    end do
  end subroutine

  ! direction sets u = v + a u.
  subroutine direction(u, a, v)
    real(dp), intent(inout) :: u(0:n + 1, 0:n + 1, 0:n + 1)
    real(dp), intent(in) :: a, v(0:n + 1, 0:n + 1, 0:n + 1)
    integer :: i, j, k

    do k = 1, n
      do j = 1, n
        do i = 1, n
          u(i, j, k) = v(i, j, k) + a*u(i, j, k)
        end do
      end do
    end do
  end subroutine
end program
