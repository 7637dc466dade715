! What NAS judges a solution by.
module norms
  use constants
  implicit none
  private
  public :: l2norm, error_norm, pintgr

contains

  ! Root mean squares of the components of v inside.
  subroutine l2norm(g, v, norm)
    type(mesh), intent(in) :: g
    real(dp), intent(in) :: v(5, g%ld, g%ld, *)
    real(dp), intent(out) :: norm(5)
    integer :: i, j, k
    norm = 0
    do k = 2, g%n - 1
      do j = 2, g%n - 1
        do i = 2, g%n - 1
          norm = norm + v(:, i, j, k)**2
        end do
      end do
    end do
    norm = sqrt(norm/real(g%n - 2, dp)**3)
  end subroutine l2norm

  ! Root mean squares of the components of u's difference from the exact solution.
  subroutine error_norm(g, u, norm)
    type(mesh), intent(in) :: g
    real(dp), intent(in) :: u(5, g%ld, g%ld, *)
    real(dp), intent(out) :: norm(5)
    integer :: i, j, k
    norm = 0
    do k = 2, g%n - 1
      do j = 2, g%n - 1
        do i = 2, g%n - 1
          norm = norm + (exact(g%n, i, j, k) - u(:, i, j, k))**2
        end do
      end do
    end do
    norm = sqrt(norm/real(g%n - 2, dp)**3)
  end subroutine error_norm

  ! Integral of the pressure over the faces of a box inside the mesh, by the
  ! trapezoidal rule: points 2 to n-1 along xi, 2 to n-2 along eta, 3 to n-1 along
  ! zeta. A square of four points counts a quarter of each, so that a point counts
  ! one, one half or one quarter.
  subroutine pintgr(g, u, integral)
    type(mesh), intent(in) :: g
    real(dp), intent(in) :: u(5, g%ld, g%ld, *)
    real(dp), intent(out) :: integral
    integer :: i, j, k, n
    n = g%n
    integral = 0
    do k = 3, n - 1
      do j = 2, n - 2
        do i = 2, n - 1
          if (k == 3 .or. k == n - 1) integral = integral + end_weight(i, 2, n - 1)*end_weight(j, 2, n - 2)*pressure(u(:, i, j, k))
          if (j == 2 .or. j == n - 2) integral = integral + end_weight(i, 2, n - 1)*end_weight(k, 3, n - 1)*pressure(u(:, i, j, k))
          if (i == 2 .or. i == n - 1) integral = integral + end_weight(j, 2, n - 2)*end_weight(k, 3, n - 1)*pressure(u(:, i, j, k))
        end do
      end do
    end do
    integral = integral/g%t3**2
  end subroutine pintgr

  ! Weight of a point of a line in the trapezoidal rule.
  pure real(dp) function end_weight(i, first, last)
    integer, intent(in) :: i, first, last
    end_weight = merge(0.5_dp, 1.0_dp, i == first .or. i == last)
  end function end_weight

  pure real(dp) function pressure(s)
    real(dp), intent(in) :: s(5)
    pressure = c2*(s(5) - 0.5_dp*(s(2)**2 + s(3)**2 + s(4)**2)/s(1))
  end function pressure

end module norms
