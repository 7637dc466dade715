! Steps of a structured solver in a cube: three coupled fields, a right side from
! seven-point differences, and tridiagonal solves along each of the three axes
! (alternating directions). The size N is fixed at compile time; arrays are static,
! with the fields first, as in C's array of structures.
#ifndef N
#define N 12
#endif
module fields
  implicit none
  integer, parameter :: dp = kind(1d0), f = 3
  real(dp), parameter :: tau = 0.4_dp
  real(dp), save :: u(f, N, N, N), rhs(f, N, N, N)
contains
  ! right sets rhs = tau L u, where L adds second differences along the axes, with
  ! zero beyond the faces, and couples the fields.
  subroutine right()
    integer :: i, j, k, m
    rhs = 0
    do k = 2, N - 1
      do j = 2, N - 1
        do i = 2, N - 1
          do m = 1, f
            rhs(m, i, j, k) = tau*(u(m, i - 1, j, k) + u(m, i + 1, j, k) + u(m, i, j - 1, k) &
              + u(m, i, j + 1, k) + u(m, i, j, k - 1) + u(m, i, j, k + 1) - 6*u(m, i, j, k) &
              + 0.01_dp*(u(mod(m, f) + 1, i, j, k) - u(m, i, j, k)))
          end do
        end do
      end do
    end do
  end subroutine

  ! alongX, alongY and alongZ solve (1 - tau D) x = rhs for each line of their axis.
  subroutine alongX()
    integer :: i, j, k
    real(dp) :: c(N), w
    do k = 2, N - 1
      do j = 2, N - 1
        c(1) = 0
        do i = 2, N - 1
          w = 1/(1 + 2*tau - tau*c(i - 1))
          c(i) = tau*w
          rhs(:, i, j, k) = (rhs(:, i, j, k) + tau*rhs(:, i - 1, j, k))*w
        end do
        do i = N - 2, 2, -1
          rhs(:, i, j, k) = rhs(:, i, j, k) + c(i)*rhs(:, i + 1, j, k)
        end do
      end do
    end do
  end subroutine

  subroutine alongY()
    integer :: i, j, k
    real(dp) :: c(N), w
    do k = 2, N - 1
      c(1) = 0
      do j = 2, N - 1
        w = 1/(1 + 2*tau - tau*c(j - 1))
        c(j) = tau*w
        do i = 2, N - 1
          rhs(:, i, j, k) = (rhs(:, i, j, k) + tau*rhs(:, i, j - 1, k))*w
        end do
      end do
      do j = N - 2, 2, -1
        do i = 2, N - 1
          rhs(:, i, j, k) = rhs(:, i, j, k) + c(j)*rhs(:, i, j + 1, k)
        end do
      end do
    end do
  end subroutine

  subroutine alongZ()
    integer :: i, j, k
    real(dp) :: c(N), w
    do j = 2, N - 1
      c(1) = 0
      do k = 2, N - 1
        w = 1/(1 + 2*tau - tau*c(k - 1))
        c(k) = tau*w
        do i = 2, N - 1
          rhs(:, i, j, k) = (rhs(:, i, j, k) + tau*rhs(:, i, j, k - 1))*w
        end do
      end do
      do k = N - 2, 2, -1
        do i = 2, N - 1
          rhs(:, i, j, k) = rhs(:, i, j, k) + c(k)*rhs(:, i, j, k + 1)
        end do
      end do
    end do
  end subroutine
end module

program solver3d
  use fields
  implicit none
  integer, parameter :: steps = 3
  integer :: t, i, j, k, m
  real(dp) :: s(N), h, factor, worst

  ! The sum of the fields is a mode of all three axes, and the coupling keeps it: each
  ! step multiplies it by the same factor.
  h = acos(-1d0)/(N - 1)
  do i = 1, N
    s(i) = sin(h*(i - 1))
  end do
  s(N) = 0
  do k = 1, N
    do j = 1, N
      do i = 1, N
        do m = 1, f
          u(m, i, j, k) = m*s(i)*s(j)*s(k)
        end do
      end do
    end do
  end do
  do t = 1, steps
    call right()
    call alongX()
    call alongY()
    call alongZ()
    u = u + rhs
  end do
  factor = (1 - 6*tau*(1 - cos(h))/(1 + 2*tau*(1 - cos(h)))**3)**steps
  worst = 0
  do k = 1, N, 3
    do i = 1, N
      worst = max(worst, abs(sum(u(:, i, N/2, k)) - factor*6*s(i)*s(N/2)*s(k)))
    end do
  end do
  print '(a,i0,a,es8.1)', 'solver3d: n ', N, ', error', worst
  if (.not. worst < 1d-11) stop 1
end program
