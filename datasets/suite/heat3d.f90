! The heat equation in a cube by explicit steps, seven-point stencil, two allocatable
! arrays that take turns. The size is the argument.
program heat3d
  implicit none
  integer, parameter :: dp = kind(1d0), steps = 4
  real(dp), parameter :: k = 0.125d0
  integer :: n, i, j, l, status
  real(dp), allocatable :: u(:, :, :), v(:, :, :), s(:)
  real(dp) :: worst, factor, h
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 3) then
    print '(a)', 'usage: heat3d N, at least 3'
    stop 2
  end if
  allocate (u(n, n, n), v(n, n, n), s(n))
  h = acos(-1d0)/(n - 1)
  do i = 1, n
    s(i) = sin(h*(i - 1))
  end do
  do l = 1, n
    do j = 1, n
      do i = 1, n
        u(i, j, l) = s(i)*s(j)*s(l)
        v(i, j, l) = u(i, j, l)
      end do
    end do
  end do
  do i = 1, steps, 2
    call step(u, v, n)
    call step(v, u, n)
  end do
  ! The mode is an eigenvector of the step.
  factor = (1 - 6*k + 6*k*cos(h))**steps
  worst = 0
  do l = 1, n, 5
    do j = 1, n, 3
      worst = max(worst, abs(u(1 + n/3, j, l) - factor*s(1 + n/3)*s(j)*s(l)))
    end do
  end do
  print '(a,i0,a,es8.1)', 'heat3d: n ', n, ', error', worst
  if (.not. worst < 1d-12) stop 1

contains

  subroutine step(a, b, n)
    integer, intent(in) :: n
    real(dp), intent(in) :: a(n, n, n)
    real(dp), intent(inout) :: b(n, n, n)
    integer :: i, j, l

    do l = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          b(i, j, l) = (1 - 6*k)*a(i, j, l) + k*(a(i - 1, j, l) + a(i + 1, j, l) + a(i, j - 1, l) &
            + a(i, j + 1, l) + a(i, j, l - 1) + a(i, j, l + 1))
        end do
      end do
    end do
  end subroutine
end program
