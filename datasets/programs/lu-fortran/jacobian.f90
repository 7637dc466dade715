! The blocks of the linear system of a step: see ../lu/jacobian.go.
module jacobian
  use constants
  implicit none
  private
  public :: jacld, jacu

  ! Coefficients of the blocks for the neighbours along one direction.
  type factors
    real(dp) :: a, mu, mu43, kappa, excess, along, d
  end type factors

  ! Coefficients of a point's own block.
  type diagonal
    real(dp) :: one, mu, kappa, excess
  end type diagonal

contains

  ! sign is -1 for the neighbours before a point and 1 for those after it.
  pure function coefficients(g, d, sign) result(f)
    type(mesh), intent(in) :: g
    real(dp), intent(in) :: d
    integer, intent(in) :: sign
    type(factors) :: f
    real(dp) :: t
    t = g%dt*g%t1
    f = factors(a=sign*g%dt*g%t2, mu=t*c34, mu43=r43*t*c34, kappa=t*c1345, &
      excess=t*(c34 - c1345), along=t*(r43*c34 - c1345), d=t*d)
  end function coefficients

  pure function own_coefficients(g) result(f)
    type(mesh), intent(in) :: g
    type(diagonal) :: f
    real(dp) :: t
    t = 2*g%dt*g%t1
    f = diagonal(one=1 + t*(dxi + deta + dzeta), mu=t*(2 + r43)*c34, &
      kappa=3*t*c1345, excess=t*((2 + r43)*c34 - 3*c1345))
  end function own_coefficients

  ! Forms the blocks of plane k for the lower sweep.
  subroutine jacld(g, k, u, rhoi, qs, a, b, c, d)
    type(mesh), intent(in) :: g
    integer, intent(in) :: k
    real(dp), intent(in) :: u(5, g%ld, g%ld, *), rhoi(g%ld, g%ld, *), qs(g%ld, g%ld, *)
    real(dp), intent(inout), dimension(5, 5, g%ld, *) :: a, b, c, d
    type(factors) :: fz, fy, fx
    type(diagonal) :: own
    real(dp) :: r, v(3), e, q, aw
    integer :: i, j
    fz = coefficients(g, dzeta, -1)
    fy = coefficients(g, deta, -1)
    fx = coefficients(g, dxi, -1)
    own = own_coefficients(g)
    do j = 2, g%n - 1
      do i = 2, g%n - 1
        r = rhoi(i, j, k)
        v = u(2:4, i, j, k)*r
        e = u(5, i, j, k)*r
        d(1, :, i, j) = [own%one, 0.0_dp, 0.0_dp, 0.0_dp, 0.0_dp]
        d(2, :, i, j) = [-own%mu*r*v(1), own%one + own%mu*r, 0.0_dp, 0.0_dp, 0.0_dp]
        d(3, :, i, j) = [-own%mu*r*v(2), 0.0_dp, own%one + own%mu*r, 0.0_dp, 0.0_dp]
        d(4, :, i, j) = [-own%mu*r*v(3), 0.0_dp, 0.0_dp, own%one + own%mu*r, 0.0_dp]
        d(5, :, i, j) = [-r*(own%excess*(v(1)**2 + v(2)**2 + v(3)**2) + own%kappa*e), &
          own%excess*r*v(1), own%excess*r*v(2), own%excess*r*v(3), own%one + own%kappa*r]

        r = rhoi(i, j, k - 1)
        v = u(2:4, i, j, k - 1)*r
        e = u(5, i, j, k - 1)*r
        q = qs(i, j, k - 1)*r
        aw = fz%a*v(3)
        a(1, :, i, j) = [-fz%d, 0.0_dp, 0.0_dp, &
          fz%a, 0.0_dp]
        a(2, :, i, j) = [(fz%mu*r - aw)*v(1), aw - fz%mu*r - fz%d, 0.0_dp, &
          fz%a*v(1), 0.0_dp]
        a(3, :, i, j) = [(fz%mu*r - aw)*v(2), 0.0_dp, aw - fz%mu*r - fz%d, &
          fz%a*v(2), 0.0_dp]
        a(4, :, i, j) = [fz%a*c2*q - aw*v(3) + fz%mu43*r*v(3), -fz%a*c2*v(1), -fz%a*c2*v(2), &
          (2 - c2)*aw - fz%mu43*r - fz%d, fz%a*c2]
        a(5, :, i, j) = [(2*c2*q - c1*e)*aw + r*(fz%excess*(v(1)**2 + v(2)**2) + fz%along*v(3)**2 + fz%kappa*e), &
          -(c2*aw + fz%excess*r)*v(1), -(c2*aw + fz%excess*r)*v(2), &
          fz%a*(c1*e - c2*(q + v(3)**2)) - fz%along*r*v(3), c1*aw - fz%kappa*r - fz%d]

        r = rhoi(i, j - 1, k)
        v = u(2:4, i, j - 1, k)*r
        e = u(5, i, j - 1, k)*r
        q = qs(i, j - 1, k)*r
        aw = fy%a*v(2)
        b(1, :, i, j) = [-fy%d, 0.0_dp, fy%a, &
          0.0_dp, 0.0_dp]
        b(2, :, i, j) = [(fy%mu*r - aw)*v(1), aw - fy%mu*r - fy%d, fy%a*v(1), &
          0.0_dp, 0.0_dp]
        b(3, :, i, j) = [fy%a*c2*q - aw*v(2) + fy%mu43*r*v(2), -fy%a*c2*v(1), (2 - c2)*aw - fy%mu43*r - fy%d, &
          -fy%a*c2*v(3), fy%a*c2]
        b(4, :, i, j) = [(fy%mu*r - aw)*v(3), 0.0_dp, fy%a*v(3), &
          aw - fy%mu*r - fy%d, 0.0_dp]
        b(5, :, i, j) = [(2*c2*q - c1*e)*aw + r*(fy%excess*(v(1)**2 + v(3)**2) + fy%along*v(2)**2 + fy%kappa*e), &
          -(c2*aw + fy%excess*r)*v(1), fy%a*(c1*e - c2*(q + v(2)**2)) - fy%along*r*v(2), &
          -(c2*aw + fy%excess*r)*v(3), c1*aw - fy%kappa*r - fy%d]

        r = rhoi(i - 1, j, k)
        v = u(2:4, i - 1, j, k)*r
        e = u(5, i - 1, j, k)*r
        q = qs(i - 1, j, k)*r
        aw = fx%a*v(1)
        c(1, :, i, j) = [-fx%d, fx%a, 0.0_dp, &
          0.0_dp, 0.0_dp]
        c(2, :, i, j) = [fx%a*c2*q - aw*v(1) + fx%mu43*r*v(1), (2 - c2)*aw - fx%mu43*r - fx%d, -fx%a*c2*v(2), &
          -fx%a*c2*v(3), fx%a*c2]
        c(3, :, i, j) = [(fx%mu*r - aw)*v(2), fx%a*v(2), aw - fx%mu*r - fx%d, &
          0.0_dp, 0.0_dp]
        c(4, :, i, j) = [(fx%mu*r - aw)*v(3), fx%a*v(3), 0.0_dp, &
          aw - fx%mu*r - fx%d, 0.0_dp]
        c(5, :, i, j) = [(2*c2*q - c1*e)*aw + r*(fx%excess*(v(2)**2 + v(3)**2) + fx%along*v(1)**2 + fx%kappa*e), &
          fx%a*(c1*e - c2*(q + v(1)**2)) - fx%along*r*v(1), -(c2*aw + fx%excess*r)*v(2), &
          -(c2*aw + fx%excess*r)*v(3), c1*aw - fx%kappa*r - fx%d]
      end do
    end do
  end subroutine jacld

  ! Forms the blocks of plane k for the upper sweep.
  subroutine jacu(g, k, u, rhoi, qs, a, b, c, d)
    type(mesh), intent(in) :: g
    integer, intent(in) :: k
    real(dp), intent(in) :: u(5, g%ld, g%ld, *), rhoi(g%ld, g%ld, *), qs(g%ld, g%ld, *)
    real(dp), intent(inout), dimension(5, 5, g%ld, *) :: a, b, c, d
    type(factors) :: fz, fy, fx
    type(diagonal) :: own
    real(dp) :: r, v(3), e, q, aw
    integer :: i, j
    fz = coefficients(g, dzeta, 1)
    fy = coefficients(g, deta, 1)
    fx = coefficients(g, dxi, 1)
    own = own_coefficients(g)
    do j = 2, g%n - 1
      do i = 2, g%n - 1
        r = rhoi(i, j, k)
        v = u(2:4, i, j, k)*r
        e = u(5, i, j, k)*r
        d(1, :, i, j) = [own%one, 0.0_dp, 0.0_dp, 0.0_dp, 0.0_dp]
        d(2, :, i, j) = [-own%mu*r*v(1), own%one + own%mu*r, 0.0_dp, 0.0_dp, 0.0_dp]
        d(3, :, i, j) = [-own%mu*r*v(2), 0.0_dp, own%one + own%mu*r, 0.0_dp, 0.0_dp]
        d(4, :, i, j) = [-own%mu*r*v(3), 0.0_dp, 0.0_dp, own%one + own%mu*r, 0.0_dp]
        d(5, :, i, j) = [-r*(own%excess*(v(1)**2 + v(2)**2 + v(3)**2) + own%kappa*e), &
          own%excess*r*v(1), own%excess*r*v(2), own%excess*r*v(3), own%one + own%kappa*r]

        r = rhoi(i, j, k + 1)
        v = u(2:4, i, j, k + 1)*r
        e = u(5, i, j, k + 1)*r
        q = qs(i, j, k + 1)*r
        aw = fz%a*v(3)
        a(1, :, i, j) = [-fz%d, 0.0_dp, 0.0_dp, &
          fz%a, 0.0_dp]
        a(2, :, i, j) = [(fz%mu*r - aw)*v(1), aw - fz%mu*r - fz%d, 0.0_dp, &
          fz%a*v(1), 0.0_dp]
        a(3, :, i, j) = [(fz%mu*r - aw)*v(2), 0.0_dp, aw - fz%mu*r - fz%d, &
          fz%a*v(2), 0.0_dp]
        a(4, :, i, j) = [fz%a*c2*q - aw*v(3) + fz%mu43*r*v(3), -fz%a*c2*v(1), -fz%a*c2*v(2), &
          (2 - c2)*aw - fz%mu43*r - fz%d, fz%a*c2]
        a(5, :, i, j) = [(2*c2*q - c1*e)*aw + r*(fz%excess*(v(1)**2 + v(2)**2) + fz%along*v(3)**2 + fz%kappa*e), &
          -(c2*aw + fz%excess*r)*v(1), -(c2*aw + fz%excess*r)*v(2), &
          fz%a*(c1*e - c2*(q + v(3)**2)) - fz%along*r*v(3), c1*aw - fz%kappa*r - fz%d]

        r = rhoi(i, j + 1, k)
        v = u(2:4, i, j + 1, k)*r
        e = u(5, i, j + 1, k)*r
        q = qs(i, j + 1, k)*r
        aw = fy%a*v(2)
        b(1, :, i, j) = [-fy%d, 0.0_dp, fy%a, &
          0.0_dp, 0.0_dp]
        b(2, :, i, j) = [(fy%mu*r - aw)*v(1), aw - fy%mu*r - fy%d, fy%a*v(1), &
          0.0_dp, 0.0_dp]
        b(3, :, i, j) = [fy%a*c2*q - aw*v(2) + fy%mu43*r*v(2), -fy%a*c2*v(1), (2 - c2)*aw - fy%mu43*r - fy%d, &
          -fy%a*c2*v(3), fy%a*c2]
        b(4, :, i, j) = [(fy%mu*r - aw)*v(3), 0.0_dp, fy%a*v(3), &
          aw - fy%mu*r - fy%d, 0.0_dp]
        b(5, :, i, j) = [(2*c2*q - c1*e)*aw + r*(fy%excess*(v(1)**2 + v(3)**2) + fy%along*v(2)**2 + fy%kappa*e), &
          -(c2*aw + fy%excess*r)*v(1), fy%a*(c1*e - c2*(q + v(2)**2)) - fy%along*r*v(2), &
          -(c2*aw + fy%excess*r)*v(3), c1*aw - fy%kappa*r - fy%d]

        r = rhoi(i + 1, j, k)
        v = u(2:4, i + 1, j, k)*r
        e = u(5, i + 1, j, k)*r
        q = qs(i + 1, j, k)*r
        aw = fx%a*v(1)
        c(1, :, i, j) = [-fx%d, fx%a, 0.0_dp, &
          0.0_dp, 0.0_dp]
        c(2, :, i, j) = [fx%a*c2*q - aw*v(1) + fx%mu43*r*v(1), (2 - c2)*aw - fx%mu43*r - fx%d, -fx%a*c2*v(2), &
          -fx%a*c2*v(3), fx%a*c2]
        c(3, :, i, j) = [(fx%mu*r - aw)*v(2), fx%a*v(2), aw - fx%mu*r - fx%d, &
          0.0_dp, 0.0_dp]
        c(4, :, i, j) = [(fx%mu*r - aw)*v(3), fx%a*v(3), 0.0_dp, &
          aw - fx%mu*r - fx%d, 0.0_dp]
        c(5, :, i, j) = [(2*c2*q - c1*e)*aw + r*(fx%excess*(v(2)**2 + v(3)**2) + fx%along*v(1)**2 + fx%kappa*e), &
          fx%a*(c1*e - c2*(q + v(1)**2)) - fx%along*r*v(1), -(c2*aw + fx%excess*r)*v(2), &
          -(c2*aw + fx%excess*r)*v(3), c1*aw - fx%kappa*r - fx%d]
      end do
    end do
  end subroutine jacu

end module jacobian
