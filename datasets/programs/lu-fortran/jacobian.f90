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
        d(1, 1, i, j) = own%one
        d(1, 2, i, j) = 0
        d(1, 3, i, j) = 0
        d(1, 4, i, j) = 0
        d(1, 5, i, j) = 0
        d(2, 1, i, j) = -own%mu*r*v(1)
        d(2, 2, i, j) = own%one + own%mu*r
        d(2, 3, i, j) = 0
        d(2, 4, i, j) = 0
        d(2, 5, i, j) = 0
        d(3, 1, i, j) = -own%mu*r*v(2)
        d(3, 2, i, j) = 0
        d(3, 3, i, j) = own%one + own%mu*r
        d(3, 4, i, j) = 0
        d(3, 5, i, j) = 0
        d(4, 1, i, j) = -own%mu*r*v(3)
        d(4, 2, i, j) = 0
        d(4, 3, i, j) = 0
        d(4, 4, i, j) = own%one + own%mu*r
        d(4, 5, i, j) = 0
        d(5, 1, i, j) = -r*(own%excess*(v(1)**2 + v(2)**2 + v(3)**2) + own%kappa*e)
        d(5, 2, i, j) = own%excess*r*v(1)
        d(5, 3, i, j) = own%excess*r*v(2)
        d(5, 4, i, j) = own%excess*r*v(3)
        d(5, 5, i, j) = own%one + own%kappa*r

        r = rhoi(i, j, k - 1)
        v = u(2:4, i, j, k - 1)*r
        e = u(5, i, j, k - 1)*r
        q = qs(i, j, k - 1)*r
        aw = fz%a*v(3)
        a(1, 1, i, j) = -fz%d
        a(1, 2, i, j) = 0
        a(1, 3, i, j) = 0
        a(1, 4, i, j) = fz%a
        a(1, 5, i, j) = 0
        a(2, 1, i, j) = (fz%mu*r - aw)*v(1)
        a(2, 2, i, j) = aw - fz%mu*r - fz%d
        a(2, 3, i, j) = 0
        a(2, 4, i, j) = fz%a*v(1)
        a(2, 5, i, j) = 0
        a(3, 1, i, j) = (fz%mu*r - aw)*v(2)
        a(3, 2, i, j) = 0
        a(3, 3, i, j) = aw - fz%mu*r - fz%d
        a(3, 4, i, j) = fz%a*v(2)
        a(3, 5, i, j) = 0
        a(4, 1, i, j) = fz%a*c2*q - aw*v(3) + fz%mu43*r*v(3)
        a(4, 2, i, j) = -fz%a*c2*v(1)
        a(4, 3, i, j) = -fz%a*c2*v(2)
        a(4, 4, i, j) = (2 - c2)*aw - fz%mu43*r - fz%d
        a(4, 5, i, j) = fz%a*c2
        a(5, 1, i, j) = (2*c2*q - c1*e)*aw + r*(fz%excess*(v(1)**2 + v(2)**2) + fz%along*v(3)**2 + fz%kappa*e)
        a(5, 2, i, j) = -(c2*aw + fz%excess*r)*v(1)
        a(5, 3, i, j) = -(c2*aw + fz%excess*r)*v(2)
        a(5, 4, i, j) = fz%a*(c1*e - c2*(q + v(3)**2)) - fz%along*r*v(3)
        a(5, 5, i, j) = c1*aw - fz%kappa*r - fz%d

        r = rhoi(i, j - 1, k)
        v = u(2:4, i, j - 1, k)*r
        e = u(5, i, j - 1, k)*r
        q = qs(i, j - 1, k)*r
        aw = fy%a*v(2)
        b(1, 1, i, j) = -fy%d
        b(1, 2, i, j) = 0
        b(1, 3, i, j) = fy%a
        b(1, 4, i, j) = 0
        b(1, 5, i, j) = 0
        b(2, 1, i, j) = (fy%mu*r - aw)*v(1)
        b(2, 2, i, j) = aw - fy%mu*r - fy%d
        b(2, 3, i, j) = fy%a*v(1)
        b(2, 4, i, j) = 0
        b(2, 5, i, j) = 0
        b(3, 1, i, j) = fy%a*c2*q - aw*v(2) + fy%mu43*r*v(2)
        b(3, 2, i, j) = -fy%a*c2*v(1)
        b(3, 3, i, j) = (2 - c2)*aw - fy%mu43*r - fy%d
        b(3, 4, i, j) = -fy%a*c2*v(3)
        b(3, 5, i, j) = fy%a*c2
        b(4, 1, i, j) = (fy%mu*r - aw)*v(3)
        b(4, 2, i, j) = 0
        b(4, 3, i, j) = fy%a*v(3)
        b(4, 4, i, j) = aw - fy%mu*r - fy%d
        b(4, 5, i, j) = 0
        b(5, 1, i, j) = (2*c2*q - c1*e)*aw + r*(fy%excess*(v(1)**2 + v(3)**2) + fy%along*v(2)**2 + fy%kappa*e)
        b(5, 2, i, j) = -(c2*aw + fy%excess*r)*v(1)
        b(5, 3, i, j) = fy%a*(c1*e - c2*(q + v(2)**2)) - fy%along*r*v(2)
        b(5, 4, i, j) = -(c2*aw + fy%excess*r)*v(3)
        b(5, 5, i, j) = c1*aw - fy%kappa*r - fy%d

        r = rhoi(i - 1, j, k)
        v = u(2:4, i - 1, j, k)*r
        e = u(5, i - 1, j, k)*r
        q = qs(i - 1, j, k)*r
        aw = fx%a*v(1)
        c(1, 1, i, j) = -fx%d
        c(1, 2, i, j) = fx%a
        c(1, 3, i, j) = 0
        c(1, 4, i, j) = 0
        c(1, 5, i, j) = 0
        c(2, 1, i, j) = fx%a*c2*q - aw*v(1) + fx%mu43*r*v(1)
        c(2, 2, i, j) = (2 - c2)*aw - fx%mu43*r - fx%d
        c(2, 3, i, j) = -fx%a*c2*v(2)
        c(2, 4, i, j) = -fx%a*c2*v(3)
        c(2, 5, i, j) = fx%a*c2
        c(3, 1, i, j) = (fx%mu*r - aw)*v(2)
        c(3, 2, i, j) = fx%a*v(2)
        c(3, 3, i, j) = aw - fx%mu*r - fx%d
        c(3, 4, i, j) = 0
        c(3, 5, i, j) = 0
        c(4, 1, i, j) = (fx%mu*r - aw)*v(3)
        c(4, 2, i, j) = fx%a*v(3)
        c(4, 3, i, j) = 0
        c(4, 4, i, j) = aw - fx%mu*r - fx%d
        c(4, 5, i, j) = 0
        c(5, 1, i, j) = (2*c2*q - c1*e)*aw + r*(fx%excess*(v(2)**2 + v(3)**2) + fx%along*v(1)**2 + fx%kappa*e)
        c(5, 2, i, j) = fx%a*(c1*e - c2*(q + v(1)**2)) - fx%along*r*v(1)
        c(5, 3, i, j) = -(c2*aw + fx%excess*r)*v(2)
        c(5, 4, i, j) = -(c2*aw + fx%excess*r)*v(3)
        c(5, 5, i, j) = c1*aw - fx%kappa*r - fx%d
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
        d(1, 1, i, j) = own%one
        d(1, 2, i, j) = 0
        d(1, 3, i, j) = 0
        d(1, 4, i, j) = 0
        d(1, 5, i, j) = 0
        d(2, 1, i, j) = -own%mu*r*v(1)
        d(2, 2, i, j) = own%one + own%mu*r
        d(2, 3, i, j) = 0
        d(2, 4, i, j) = 0
        d(2, 5, i, j) = 0
        d(3, 1, i, j) = -own%mu*r*v(2)
        d(3, 2, i, j) = 0
        d(3, 3, i, j) = own%one + own%mu*r
        d(3, 4, i, j) = 0
        d(3, 5, i, j) = 0
        d(4, 1, i, j) = -own%mu*r*v(3)
        d(4, 2, i, j) = 0
        d(4, 3, i, j) = 0
        d(4, 4, i, j) = own%one + own%mu*r
        d(4, 5, i, j) = 0
        d(5, 1, i, j) = -r*(own%excess*(v(1)**2 + v(2)**2 + v(3)**2) + own%kappa*e)
        d(5, 2, i, j) = own%excess*r*v(1)
        d(5, 3, i, j) = own%excess*r*v(2)
        d(5, 4, i, j) = own%excess*r*v(3)
        d(5, 5, i, j) = own%one + own%kappa*r

        r = rhoi(i, j, k + 1)
        v = u(2:4, i, j, k + 1)*r
        e = u(5, i, j, k + 1)*r
        q = qs(i, j, k + 1)*r
        aw = fz%a*v(3)
        a(1, 1, i, j) = -fz%d
        a(1, 2, i, j) = 0
        a(1, 3, i, j) = 0
        a(1, 4, i, j) = fz%a
        a(1, 5, i, j) = 0
        a(2, 1, i, j) = (fz%mu*r - aw)*v(1)
        a(2, 2, i, j) = aw - fz%mu*r - fz%d
        a(2, 3, i, j) = 0
        a(2, 4, i, j) = fz%a*v(1)
        a(2, 5, i, j) = 0
        a(3, 1, i, j) = (fz%mu*r - aw)*v(2)
        a(3, 2, i, j) = 0
        a(3, 3, i, j) = aw - fz%mu*r - fz%d
        a(3, 4, i, j) = fz%a*v(2)
        a(3, 5, i, j) = 0
        a(4, 1, i, j) = fz%a*c2*q - aw*v(3) + fz%mu43*r*v(3)
        a(4, 2, i, j) = -fz%a*c2*v(1)
        a(4, 3, i, j) = -fz%a*c2*v(2)
        a(4, 4, i, j) = (2 - c2)*aw - fz%mu43*r - fz%d
        a(4, 5, i, j) = fz%a*c2
        a(5, 1, i, j) = (2*c2*q - c1*e)*aw + r*(fz%excess*(v(1)**2 + v(2)**2) + fz%along*v(3)**2 + fz%kappa*e)
        a(5, 2, i, j) = -(c2*aw + fz%excess*r)*v(1)
        a(5, 3, i, j) = -(c2*aw + fz%excess*r)*v(2)
        a(5, 4, i, j) = fz%a*(c1*e - c2*(q + v(3)**2)) - fz%along*r*v(3)
        a(5, 5, i, j) = c1*aw - fz%kappa*r - fz%d

        r = rhoi(i, j + 1, k)
        v = u(2:4, i, j + 1, k)*r
        e = u(5, i, j + 1, k)*r
        q = qs(i, j + 1, k)*r
        aw = fy%a*v(2)
        b(1, 1, i, j) = -fy%d
        b(1, 2, i, j) = 0
        b(1, 3, i, j) = fy%a
        b(1, 4, i, j) = 0
        b(1, 5, i, j) = 0
        b(2, 1, i, j) = (fy%mu*r - aw)*v(1)
        b(2, 2, i, j) = aw - fy%mu*r - fy%d
        b(2, 3, i, j) = fy%a*v(1)
        b(2, 4, i, j) = 0
        b(2, 5, i, j) = 0
        b(3, 1, i, j) = fy%a*c2*q - aw*v(2) + fy%mu43*r*v(2)
        b(3, 2, i, j) = -fy%a*c2*v(1)
        b(3, 3, i, j) = (2 - c2)*aw - fy%mu43*r - fy%d
        b(3, 4, i, j) = -fy%a*c2*v(3)
        b(3, 5, i, j) = fy%a*c2
        b(4, 1, i, j) = (fy%mu*r - aw)*v(3)
        b(4, 2, i, j) = 0
        b(4, 3, i, j) = fy%a*v(3)
        b(4, 4, i, j) = aw - fy%mu*r - fy%d
        b(4, 5, i, j) = 0
        b(5, 1, i, j) = (2*c2*q - c1*e)*aw + r*(fy%excess*(v(1)**2 + v(3)**2) + fy%along*v(2)**2 + fy%kappa*e)
        b(5, 2, i, j) = -(c2*aw + fy%excess*r)*v(1)
        b(5, 3, i, j) = fy%a*(c1*e - c2*(q + v(2)**2)) - fy%along*r*v(2)
        b(5, 4, i, j) = -(c2*aw + fy%excess*r)*v(3)
        b(5, 5, i, j) = c1*aw - fy%kappa*r - fy%d

        r = rhoi(i + 1, j, k)
        v = u(2:4, i + 1, j, k)*r
        e = u(5, i + 1, j, k)*r
        q = qs(i + 1, j, k)*r
        aw = fx%a*v(1)
        c(1, 1, i, j) = -fx%d
        c(1, 2, i, j) = fx%a
        c(1, 3, i, j) = 0
        c(1, 4, i, j) = 0
        c(1, 5, i, j) = 0
        c(2, 1, i, j) = fx%a*c2*q - aw*v(1) + fx%mu43*r*v(1)
        c(2, 2, i, j) = (2 - c2)*aw - fx%mu43*r - fx%d
        c(2, 3, i, j) = -fx%a*c2*v(2)
        c(2, 4, i, j) = -fx%a*c2*v(3)
        c(2, 5, i, j) = fx%a*c2
        c(3, 1, i, j) = (fx%mu*r - aw)*v(2)
        c(3, 2, i, j) = fx%a*v(2)
        c(3, 3, i, j) = aw - fx%mu*r - fx%d
        c(3, 4, i, j) = 0
        c(3, 5, i, j) = 0
        c(4, 1, i, j) = (fx%mu*r - aw)*v(3)
        c(4, 2, i, j) = fx%a*v(3)
        c(4, 3, i, j) = 0
        c(4, 4, i, j) = aw - fx%mu*r - fx%d
        c(4, 5, i, j) = 0
        c(5, 1, i, j) = (2*c2*q - c1*e)*aw + r*(fx%excess*(v(2)**2 + v(3)**2) + fx%along*v(1)**2 + fx%kappa*e)
        c(5, 2, i, j) = fx%a*(c1*e - c2*(q + v(1)**2)) - fx%along*r*v(1)
        c(5, 3, i, j) = -(c2*aw + fx%excess*r)*v(2)
        c(5, 4, i, j) = -(c2*aw + fx%excess*r)*v(3)
        c(5, 5, i, j) = c1*aw - fx%kappa*r - fx%d
      end do
    end do
  end subroutine jacu

end module jacobian
