! V-cycles of geometric multigrid for Poisson's equation in a cube with n cells along
! an edge, n a multiple of four, on three grids: damped Jacobi, averages of eight
! cells down, their values up. The size is the argument; each grid's arrays are
! allocatable components.
module grids
  implicit none
  integer, parameter :: dp = kind(1d0), levels = 3
  type grid
    integer :: n
    real(dp), allocatable :: u(:, :, :), f(:, :, :), r(:, :, :) ! with a layer around
  end type
contains
  subroutine make(g, n)
    type(grid), intent(out) :: g
    integer, intent(in) :: n
    g%n = n
    allocate (g%u(0:n + 1, 0:n + 1, 0:n + 1), g%f(n, n, n), g%r(0:n + 1, 0:n + 1, 0:n + 1))
    g%u = 0
    g%f = 0
    g%r = 0
  end subroutine

  ! residual sets r = f - A u, A the seven-point operator of a mesh whose width is
  ! twice as large on each coarser grid: h2 is its square.
  subroutine residual(n, h2, u, f, r)
    integer, intent(in) :: n
    real(dp), intent(in) :: h2, u(0:n + 1, 0:n + 1, 0:n + 1), f(n, n, n)
    real(dp), intent(inout) :: r(0:n + 1, 0:n + 1, 0:n + 1)
    integer :: i, j, k
    do k = 1, n
      do j = 1, n
        do i = 1, n
          r(i, j, k) = f(i, j, k) - (6*u(i, j, k) - u(i - 1, j, k) - u(i + 1, j, k) - u(i, j - 1, k) &
            - u(i, j + 1, k) - u(i, j, k - 1) - u(i, j, k + 1))/h2
        end do
      end do
    end do
  end subroutine

  subroutine smooth(g, h2, times)
    type(grid), intent(inout) :: g
    real(dp), intent(in) :: h2
    integer, intent(in) :: times
    integer :: t, i, j, k
    do t = 1, times
      call residual(g%n, h2, g%u, g%f, g%r)
      do k = 1, g%n
        do j = 1, g%n
          do i = 1, g%n
            g%u(i, j, k) = g%u(i, j, k) + 0.8_dp*h2/6*g%r(i, j, k)
          end do
        end do
      end do
    end do
  end subroutine

  subroutine restrict(n, r, f)
    integer, intent(in) :: n ! of the coarse grid
    real(dp), intent(in) :: r(0:2*n + 1, 0:2*n + 1, 0:2*n + 1)
    real(dp), intent(out) :: f(n, n, n)
    integer :: i, j, k
    do k = 1, n
      do j = 1, n
        do i = 1, n
          f(i, j, k) = 0.125_dp*(r(2*i - 1, 2*j - 1, 2*k - 1) + r(2*i, 2*j - 1, 2*k - 1) &
            + r(2*i - 1, 2*j, 2*k - 1) + r(2*i, 2*j, 2*k - 1) + r(2*i - 1, 2*j - 1, 2*k) &
            + r(2*i, 2*j - 1, 2*k) + r(2*i - 1, 2*j, 2*k) + r(2*i, 2*j, 2*k))
        end do
      end do
    end do
  end subroutine

  subroutine prolong(n, c, u)
    integer, intent(in) :: n ! of the coarse grid
    real(dp), intent(in) :: c(0:n + 1, 0:n + 1, 0:n + 1)
    real(dp), intent(inout) :: u(0:2*n + 1, 0:2*n + 1, 0:2*n + 1)
    integer :: i, j, k
    do k = 1, 2*n
      do j = 1, 2*n
        do i = 1, 2*n
          u(i, j, k) = u(i, j, k) + c((i + 1)/2, (j + 1)/2, (k + 1)/2)
        end do
      end do
    end do
  end subroutine

  real(dp) function norm(n, r)
    integer, intent(in) :: n
    real(dp), intent(in) :: r(0:n + 1, 0:n + 1, 0:n + 1)
    norm = sqrt(sum(r(1:n, 1:n, 1:n)**2))
  end function
end module

program multigrid
  use grids
  implicit none
  integer, parameter :: cycles = 2
  type(grid) :: g(levels)
  integer :: n, l, c, i, j, k, status
  real(dp) :: h2(levels), before, after
  logical :: falls
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 8 .or. modulo(n, 4) /= 0) then
    print '(a)', 'usage: multigrid N, a multiple of four, at least 8'
    stop 2
  end if
  do l = 1, levels
    call make(g(l), n/2**(l - 1))
    h2(l) = 4d0**(l - 1)
  end do
  do k = 1, n
    do j = 1, n
      do i = 1, n
        g(1)%f(i, j, k) = modulo(i*5 + j*3 + k*2, 13) - 6
      end do
    end do
  end do
  call residual(n, h2(1), g(1)%u, g(1)%f, g(1)%r)
  before = norm(n, g(1)%r)
  falls = .true.
  do c = 1, cycles
    do l = 1, levels - 1
      call smooth(g(l), h2(l), 2)
      call residual(g(l)%n, h2(l), g(l)%u, g(l)%f, g(l)%r)
      call restrict(g(l + 1)%n, g(l)%r, g(l + 1)%f)
      g(l + 1)%u = 0
    end do
    call smooth(g(levels), h2(levels), 8)
    do l = levels - 1, 1, -1
      call prolong(g(l + 1)%n, g(l + 1)%u, g(l)%u)
      call smooth(g(l), h2(l), 2)
    end do
    call residual(n, h2(1), g(1)%u, g(1)%f, g(1)%r)
    after = norm(n, g(1)%r)
    falls = falls .and. after < 0.6_dp*before
    before = after
  end do
  print '(a,i0,a,es8.1,a,l1)', 'multigrid: n ', n, ', residual', after, ', falls ', falls
  if (.not. falls) stop 1
end program
