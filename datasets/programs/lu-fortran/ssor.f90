! The steps: see ../lu/ssor.go.
module relaxation
  use constants
  use jacobian
  use right_hand_side
  use solve
  implicit none
  private
  public :: ssor

contains

  ! Takes some time steps. On entry and on return rsd is the residual of u.
  subroutine ssor(g, steps, u, rsd, frct, rhoi, qs, flux, tv, a, b, c, d)
    type(mesh), intent(in) :: g
    integer, intent(in) :: steps
    real(dp), intent(inout), dimension(5, g%ld, g%ld, *) :: u, rsd, frct
    real(dp), intent(inout) :: rhoi(g%ld, g%ld, *), qs(g%ld, g%ld, *), flux(5, *), tv(5, g%ld, *)
    real(dp), intent(inout), dimension(5, 5, g%ld, *) :: a, b, c, d
    integer :: step, k
    do step = 1, steps
      call scale(g, rsd)
      do k = 2, g%n - 1
        call jacld(g, k, u, rhoi, qs, a, b, c, d)
        call blts(g, k, rsd, tv, a, b, c, d)
      end do
      do k = g%n - 1, 2, -1
        call jacu(g, k, u, rhoi, qs, a, b, c, d)
        call buts(g, k, rsd, tv, a, b, c, d)
      end do
      call add(g, u, rsd)
      call rhs(g, u, rsd, frct, rhoi, qs, flux)
    end do
  end subroutine ssor

  ! Multiplies the residual with the time step.
  subroutine scale(g, rsd)
    type(mesh), intent(in) :: g
    real(dp), intent(inout) :: rsd(5, g%ld, g%ld, *)
    integer :: i, j, k
    do k = 2, g%n - 1
      do j = 2, g%n - 1
        do i = 2, g%n - 1
          rsd(:, i, j, k) = g%dt*rsd(:, i, j, k)
        end do
      end do
    end do
  end subroutine scale

  ! Moves the solution by the correction.
  subroutine add(g, u, rsd)
    type(mesh), intent(in) :: g
    real(dp), intent(inout) :: u(5, g%ld, g%ld, *)
    real(dp), intent(in) :: rsd(5, g%ld, g%ld, *)
    real(dp), parameter :: t = 1/(omega*(2 - omega))
    integer :: i, j, k
    do k = 2, g%n - 1
      do j = 2, g%n - 1
        do i = 2, g%n - 1
          u(:, i, j, k) = u(:, i, j, k) + t*rsd(:, i, j, k)
        end do
      end do
    end do
  end subroutine add

end module relaxation
