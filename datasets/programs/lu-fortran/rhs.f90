! The residual of the steady equations, by central differences: see ../lu/rhs.go.
module right_hand_side
  use constants
  implicit none
  private
  public :: rhs

contains

  ! Computes the residual of u with the forcing frct at all points inside, and the
  ! inverse density and the kinetic energy of u.
  subroutine rhs(g, u, rsd, frct, rhoi, qs, flux)
    type(mesh), intent(in) :: g
    real(dp), intent(in) :: u(5, g%ld, g%ld, *), frct(5, g%ld, g%ld, *)
    real(dp), intent(inout) :: rsd(5, g%ld, g%ld, *), rhoi(g%ld, g%ld, *), qs(g%ld, g%ld, *), flux(5, *)
    call primitives(g, u, rsd, frct, rhoi, qs)
    call rhsx(g, u, rsd, rhoi, qs, flux)
    call rhsy(g, u, rsd, rhoi, qs, flux)
    call rhsz(g, u, rsd, rhoi, qs, flux)
  end subroutine rhs

  subroutine primitives(g, u, rsd, frct, rhoi, qs)
    type(mesh), intent(in) :: g
    real(dp), intent(in) :: u(5, g%ld, g%ld, *), frct(5, g%ld, g%ld, *)
    real(dp), intent(inout) :: rsd(5, g%ld, g%ld, *), rhoi(g%ld, g%ld, *), qs(g%ld, g%ld, *)
    real(dp) :: t
    integer :: i, j, k
    do k = 1, g%n
      do j = 1, g%n
        do i = 1, g%n
          rsd(:, i, j, k) = -frct(:, i, j, k)
          t = 1/u(1, i, j, k)
          rhoi(i, j, k) = t
          qs(i, j, k) = 0.5_dp*(u(2, i, j, k)**2 + u(3, i, j, k)**2 + u(4, i, j, k)**2)*t
        end do
      end do
    end do
  end subroutine primitives

  ! Adds the differences along xi.
  subroutine rhsx(g, u, rsd, rhoi, qs, flux)
    type(mesh), intent(in) :: g
    real(dp), intent(in) :: u(5, g%ld, g%ld, *), rhoi(g%ld, g%ld, *), qs(g%ld, g%ld, *)
    real(dp), intent(inout) :: rsd(5, g%ld, g%ld, *), flux(5, *)
    real(dp) :: w, q, lo(4), hi(4), viscous, diffusion
    integer :: i, j, k, m, n
    n = g%n
    viscous = g%t3*c34
    diffusion = dxi*g%t1
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 1, n
          w = u(2, i, j, k)*rhoi(i, j, k)
          q = qs(i, j, k)
          flux(1, i) = u(2, i, j, k)
          flux(2, i) = u(2, i, j, k)*w + c2*(u(5, i, j, k) - q)
          flux(3, i) = u(3, i, j, k)*w
          flux(4, i) = u(4, i, j, k)*w
          flux(5, i) = (c1*u(5, i, j, k) - c2*q)*w
        end do
        do i = 2, n - 1
          do m = 1, 5
            rsd(m, i, j, k) = rsd(m, i, j, k) - g%t2*(flux(m, i + 1) - flux(m, i - 1))
          end do
        end do
        do i = 2, n
          lo = rhoi(i - 1, j, k)*u(2:5, i - 1, j, k)
          hi = rhoi(i, j, k)*u(2:5, i, j, k)
          flux(2, i) = r43*g%t3*(hi(1) - lo(1))
          flux(3, i) = g%t3*(hi(2) - lo(2))
          flux(4, i) = g%t3*(hi(3) - lo(3))
          flux(5, i) = g%t3*(kinetic*((hi(1)**2 + hi(2)**2 + hi(3)**2) - (lo(1)**2 + lo(2)**2 + lo(3)**2)) &
            + stress*(hi(1)**2 - lo(1)**2) + heat*(hi(4) - lo(4)))
        end do
        do i = 2, n - 1
          rsd(1, i, j, k) = rsd(1, i, j, k) &
            + diffusion*(u(1, i - 1, j, k) - 2*u(1, i, j, k) + u(1, i + 1, j, k))
          do m = 2, 5
            rsd(m, i, j, k) = rsd(m, i, j, k) + viscous*(flux(m, i + 1) - flux(m, i)) &
              + diffusion*(u(m, i - 1, j, k) - 2*u(m, i, j, k) + u(m, i + 1, j, k))
          end do
        end do

        do m = 1, 5
          rsd(m, 2, j, k) = rsd(m, 2, j, k) &
            - dssp*(5*u(m, 2, j, k) - 4*u(m, 3, j, k) + u(m, 4, j, k))
          rsd(m, 3, j, k) = rsd(m, 3, j, k) &
            - dssp*(-4*u(m, 2, j, k) + 6*u(m, 3, j, k) - 4*u(m, 4, j, k) + u(m, 5, j, k))
        end do
        do i = 4, n - 3
          do m = 1, 5
            rsd(m, i, j, k) = rsd(m, i, j, k) &
              - dssp*(u(m, i - 2, j, k) - 4*u(m, i - 1, j, k) + 6*u(m, i, j, k) - 4*u(m, i + 1, j, k) + u(m, i + 2, j, k))
          end do
        end do
        do m = 1, 5
          rsd(m, n - 2, j, k) = rsd(m, n - 2, j, k) &
            - dssp*(u(m, n - 4, j, k) - 4*u(m, n - 3, j, k) + 6*u(m, n - 2, j, k) - 4*u(m, n - 1, j, k))
          rsd(m, n - 1, j, k) = rsd(m, n - 1, j, k) &
            - dssp*(u(m, n - 3, j, k) - 4*u(m, n - 2, j, k) + 5*u(m, n - 1, j, k))
        end do
      end do
    end do
  end subroutine rhsx

  ! Adds the differences along eta.
  subroutine rhsy(g, u, rsd, rhoi, qs, flux)
    type(mesh), intent(in) :: g
    real(dp), intent(in) :: u(5, g%ld, g%ld, *), rhoi(g%ld, g%ld, *), qs(g%ld, g%ld, *)
    real(dp), intent(inout) :: rsd(5, g%ld, g%ld, *), flux(5, *)
    real(dp) :: w, q, lo(4), hi(4), viscous, diffusion
    integer :: i, j, k, m, n
    n = g%n
    viscous = g%t3*c34
    diffusion = deta*g%t1
    do k = 2, n - 1
      do i = 2, n - 1
        do j = 1, n
          w = u(3, i, j, k)*rhoi(i, j, k)
          q = qs(i, j, k)
          flux(1, j) = u(3, i, j, k)
          flux(2, j) = u(2, i, j, k)*w
          flux(3, j) = u(3, i, j, k)*w + c2*(u(5, i, j, k) - q)
          flux(4, j) = u(4, i, j, k)*w
          flux(5, j) = (c1*u(5, i, j, k) - c2*q)*w
        end do
        do j = 2, n - 1
          do m = 1, 5
            rsd(m, i, j, k) = rsd(m, i, j, k) - g%t2*(flux(m, j + 1) - flux(m, j - 1))
          end do
        end do
        do j = 2, n
          lo = rhoi(i, j - 1, k)*u(2:5, i, j - 1, k)
          hi = rhoi(i, j, k)*u(2:5, i, j, k)
          flux(2, j) = g%t3*(hi(1) - lo(1))
          flux(3, j) = r43*g%t3*(hi(2) - lo(2))
          flux(4, j) = g%t3*(hi(3) - lo(3))
          flux(5, j) = g%t3*(kinetic*((hi(1)**2 + hi(2)**2 + hi(3)**2) - (lo(1)**2 + lo(2)**2 + lo(3)**2)) &
            + stress*(hi(2)**2 - lo(2)**2) + heat*(hi(4) - lo(4)))
        end do
        do j = 2, n - 1
          rsd(1, i, j, k) = rsd(1, i, j, k) &
            + diffusion*(u(1, i, j - 1, k) - 2*u(1, i, j, k) + u(1, i, j + 1, k))
          do m = 2, 5
            rsd(m, i, j, k) = rsd(m, i, j, k) + viscous*(flux(m, j + 1) - flux(m, j)) &
              + diffusion*(u(m, i, j - 1, k) - 2*u(m, i, j, k) + u(m, i, j + 1, k))
          end do
        end do

        do m = 1, 5
          rsd(m, i, 2, k) = rsd(m, i, 2, k) &
            - dssp*(5*u(m, i, 2, k) - 4*u(m, i, 3, k) + u(m, i, 4, k))
          rsd(m, i, 3, k) = rsd(m, i, 3, k) &
            - dssp*(-4*u(m, i, 2, k) + 6*u(m, i, 3, k) - 4*u(m, i, 4, k) + u(m, i, 5, k))
        end do
        do j = 4, n - 3
          do m = 1, 5
            rsd(m, i, j, k) = rsd(m, i, j, k) &
              - dssp*(u(m, i, j - 2, k) - 4*u(m, i, j - 1, k) + 6*u(m, i, j, k) - 4*u(m, i, j + 1, k) + u(m, i, j + 2, k))
          end do
        end do
        do m = 1, 5
          rsd(m, i, n - 2, k) = rsd(m, i, n - 2, k) &
            - dssp*(u(m, i, n - 4, k) - 4*u(m, i, n - 3, k) + 6*u(m, i, n - 2, k) - 4*u(m, i, n - 1, k))
          rsd(m, i, n - 1, k) = rsd(m, i, n - 1, k) &
            - dssp*(u(m, i, n - 3, k) - 4*u(m, i, n - 2, k) + 5*u(m, i, n - 1, k))
        end do
      end do
    end do
  end subroutine rhsy

  ! Adds the differences along zeta.
  subroutine rhsz(g, u, rsd, rhoi, qs, flux)
    type(mesh), intent(in) :: g
    real(dp), intent(in) :: u(5, g%ld, g%ld, *), rhoi(g%ld, g%ld, *), qs(g%ld, g%ld, *)
    real(dp), intent(inout) :: rsd(5, g%ld, g%ld, *), flux(5, *)
    real(dp) :: w, q, lo(4), hi(4), viscous, diffusion
    integer :: i, j, k, m, n
    n = g%n
    viscous = g%t3*c34
    diffusion = dzeta*g%t1
    do j = 2, n - 1
      do i = 2, n - 1
        do k = 1, n
          w = u(4, i, j, k)*rhoi(i, j, k)
          q = qs(i, j, k)
          flux(1, k) = u(4, i, j, k)
          flux(2, k) = u(2, i, j, k)*w
          flux(3, k) = u(3, i, j, k)*w
          flux(4, k) = u(4, i, j, k)*w + c2*(u(5, i, j, k) - q)
          flux(5, k) = (c1*u(5, i, j, k) - c2*q)*w
        end do
        do k = 2, n - 1
          do m = 1, 5
            rsd(m, i, j, k) = rsd(m, i, j, k) - g%t2*(flux(m, k + 1) - flux(m, k - 1))
          end do
        end do
        do k = 2, n
          lo = rhoi(i, j, k - 1)*u(2:5, i, j, k - 1)
          hi = rhoi(i, j, k)*u(2:5, i, j, k)
          flux(2, k) = g%t3*(hi(1) - lo(1))
          flux(3, k) = g%t3*(hi(2) - lo(2))
          flux(4, k) = r43*g%t3*(hi(3) - lo(3))
          flux(5, k) = g%t3*(kinetic*((hi(1)**2 + hi(2)**2 + hi(3)**2) - (lo(1)**2 + lo(2)**2 + lo(3)**2)) &
            + stress*(hi(3)**2 - lo(3)**2) + heat*(hi(4) - lo(4)))
        end do
        do k = 2, n - 1
          rsd(1, i, j, k) = rsd(1, i, j, k) &
            + diffusion*(u(1, i, j, k - 1) - 2*u(1, i, j, k) + u(1, i, j, k + 1))
          do m = 2, 5
            rsd(m, i, j, k) = rsd(m, i, j, k) + viscous*(flux(m, k + 1) - flux(m, k)) &
              + diffusion*(u(m, i, j, k - 1) - 2*u(m, i, j, k) + u(m, i, j, k + 1))
          end do
        end do

        do m = 1, 5
          rsd(m, i, j, 2) = rsd(m, i, j, 2) &
            - dssp*(5*u(m, i, j, 2) - 4*u(m, i, j, 3) + u(m, i, j, 4))
          rsd(m, i, j, 3) = rsd(m, i, j, 3) &
            - dssp*(-4*u(m, i, j, 2) + 6*u(m, i, j, 3) - 4*u(m, i, j, 4) + u(m, i, j, 5))
        end do
        do k = 4, n - 3
          do m = 1, 5
            rsd(m, i, j, k) = rsd(m, i, j, k) &
              - dssp*(u(m, i, j, k - 2) - 4*u(m, i, j, k - 1) + 6*u(m, i, j, k) - 4*u(m, i, j, k + 1) + u(m, i, j, k + 2))
          end do
        end do
        do m = 1, 5
          rsd(m, i, j, n - 2) = rsd(m, i, j, n - 2) &
            - dssp*(u(m, i, j, n - 4) - 4*u(m, i, j, n - 3) + 6*u(m, i, j, n - 2) - 4*u(m, i, j, n - 1))
          rsd(m, i, j, n - 1) = rsd(m, i, j, n - 1) &
            - dssp*(u(m, i, j, n - 3) - 4*u(m, i, j, n - 2) + 5*u(m, i, j, n - 1))
        end do
      end do
    end do
  end subroutine rhsz

end module right_hand_side
