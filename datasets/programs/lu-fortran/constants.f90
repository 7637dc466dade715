! The numbers that define the problem, and its exact solution. The Go program in
! ../lu says where they are from, and documents the method.
module constants
  use, intrinsic :: iso_fortran_env, only: dp => real64
  implicit none
  public

  ! Gas constants; viscosity and heat conduction.
  real(dp), parameter :: c1 = 1.4_dp, c2 = 0.4_dp, c3 = 0.1_dp, c4 = 1.0_dp, c5 = 1.4_dp
  real(dp), parameter :: c34 = c3*c4, c1345 = c1*c3*c4*c5, r43 = 4.0_dp/3

  ! Second-order dissipation along xi, eta, zeta; fourth-order dissipation.
  real(dp), parameter :: dxi = 0.75_dp, deta = 0.75_dp, dzeta = 1.0_dp, dssp = 0.25_dp

  ! Over-relaxation.
  real(dp), parameter :: omega = 1.2_dp

  ! Parts of the viscous flux of energy: kinetic energy, stress along the
  ! direction, conduction of heat.
  real(dp), parameter :: kinetic = 0.5_dp*(1 - c1*c5), stress = 1.0_dp/6, heat = c1*c5

  ! Coefficients of the exact solution: those of component m are ce(:, m).
  real(dp), parameter :: ce(13, 5) = reshape([ &
    2.0_dp, 0.0_dp, 0.0_dp, 4.0_dp, 5.0_dp, 3.0_dp, 0.5_dp, 0.02_dp, 0.01_dp, 0.03_dp, 0.5_dp, 0.4_dp, 0.3_dp, &
    1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp, 2.0_dp, 3.0_dp, 0.01_dp, 0.03_dp, 0.02_dp, 0.4_dp, 0.3_dp, 0.5_dp, &
    2.0_dp, 2.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 2.0_dp, 3.0_dp, 0.04_dp, 0.03_dp, 0.05_dp, 0.3_dp, 0.5_dp, 0.4_dp, &
    2.0_dp, 2.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 2.0_dp, 3.0_dp, 0.03_dp, 0.05_dp, 0.04_dp, 0.2_dp, 0.1_dp, 0.3_dp, &
    5.0_dp, 4.0_dp, 3.0_dp, 2.0_dp, 0.1_dp, 0.4_dp, 0.3_dp, 0.05_dp, 0.04_dp, 0.03_dp, 0.1_dp, 0.3_dp, 0.2_dp], &
    [13, 5])

  ! What depends on the mesh: points along an edge, leading dimension of the
  ! arrays, time step, and 1/h**2, 1/2h, 1/h for the mesh width h.
  type mesh
    integer :: n, ld
    real(dp) :: dt, t1, t2, t3
  end type mesh

contains

  ! The exact solution at mesh point (i, j, k) of n points along each edge.
  pure function exact(n, i, j, k) result(u)
    integer, intent(in) :: n, i, j, k
    real(dp) :: u(5)
    real(dp) :: at(3)
    integer :: m, d
    at = real([i, j, k] - 1, dp)/(n - 1)
    do m = 1, 5
      u(m) = ce(1, m)
      do d = 1, 3
        u(m) = u(m) + at(d)*(ce(1 + d, m) + at(d)*(ce(4 + d, m) + at(d)*(ce(7 + d, m) + at(d)*ce(10 + d, m))))
      end do
    end do
  end function exact

end module constants
