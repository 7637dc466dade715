! Boundary values, initial values and forcing.
module setup
  use constants
  use right_hand_side
  implicit none
  private
  public :: erhs, setbv, setiv

contains

  ! Sets the forcing: what the discrete operator makes of the exact solution, which
  ! is the residual without forcing. Leaves the exact solution in u.
  subroutine erhs(g, u, rsd, frct, rhoi, qs, flux)
    type(mesh), intent(in) :: g
    real(dp), intent(inout), dimension(5, g%ld, g%ld, *) :: u, rsd, frct
    real(dp), intent(inout) :: rhoi(g%ld, g%ld, *), qs(g%ld, g%ld, *), flux(5, *)
    integer :: i, j, k
    do k = 1, g%n
      do j = 1, g%n
        do i = 1, g%n
          u(:, i, j, k) = exact(g%n, i, j, k)
          frct(:, i, j, k) = 0
        end do
      end do
    end do
    call rhs(g, u, rsd, frct, rhoi, qs, flux)
    do k = 1, g%n
      do j = 1, g%n
        do i = 1, g%n
          frct(:, i, j, k) = rsd(:, i, j, k)
        end do
      end do
    end do
  end subroutine erhs

  ! Sets the exact solution on the six faces.
  subroutine setbv(g, u)
    type(mesh), intent(in) :: g
    real(dp), intent(inout) :: u(5, g%ld, g%ld, *)
    integer :: a, b, n
    n = g%n
    do b = 1, n
      do a = 1, n
        u(:, a, b, 1) = exact(n, a, b, 1)
        u(:, a, b, n) = exact(n, a, b, n)
        u(:, a, 1, b) = exact(n, a, 1, b)
        u(:, a, n, b) = exact(n, a, n, b)
        u(:, 1, a, b) = exact(n, 1, a, b)
        u(:, n, a, b) = exact(n, n, a, b)
      end do
    end do
  end subroutine setbv

  ! Interpolates inside between the values on the faces.
  subroutine setiv(g, u)
    type(mesh), intent(in) :: g
    real(dp), intent(inout) :: u(5, g%ld, g%ld, *)
    real(dp), dimension(5) :: px, py, pz
    real(dp) :: x, y, z
    integer :: i, j, k, n
    n = g%n
    do k = 2, n - 1
      z = real(k - 1, dp)/(n - 1)
      do j = 2, n - 1
        y = real(j - 1, dp)/(n - 1)
        do i = 2, n - 1
          x = real(i - 1, dp)/(n - 1)
          px = (1 - x)*u(:, 1, j, k) + x*u(:, n, j, k)
          py = (1 - y)*u(:, i, 1, k) + y*u(:, i, n, k)
          pz = (1 - z)*u(:, i, j, 1) + z*u(:, i, j, n)
          u(:, i, j, k) = px + py + pz - px*py - py*pz - pz*px + px*py*pz
        end do
      end do
    end do
  end subroutine setiv

end module setup
