! The block triangular solves of a plane: see ../lu/sweep.go.
module solve
  use constants
  implicit none
  private
  public :: blts, buts

contains

  ! (D + omega L) v = v on plane k, after the planes below it.
  subroutine blts(g, k, v, tv, a, b, c, d)
    type(mesh), intent(in) :: g
    integer, intent(in) :: k
    real(dp), intent(inout) :: v(5, g%ld, g%ld, *), tv(5, g%ld, *)
    real(dp), intent(in), dimension(5, 5, g%ld, *) :: a, b, c, d
    real(dp) :: own(5, 5), f
    integer :: i, j, m, q
    do j = 2, g%n - 1
      do i = 2, g%n - 1
        do m = 1, 5
          tv(m, i, j) = v(m, i, j, k) - omega*( &
            a(m, 1, i, j)*v(1, i, j, k - 1) + a(m, 2, i, j)*v(2, i, j, k - 1) &
            + a(m, 3, i, j)*v(3, i, j, k - 1) + a(m, 4, i, j)*v(4, i, j, k - 1) &
            + a(m, 5, i, j)*v(5, i, j, k - 1))
        end do
      end do
    end do
    do j = 2, g%n - 1
      do i = 2, g%n - 1
        do m = 1, 5
          tv(m, i, j) = tv(m, i, j) - omega*( &
            b(m, 1, i, j)*v(1, i, j - 1, k) + c(m, 1, i, j)*v(1, i - 1, j, k) &
            + b(m, 2, i, j)*v(2, i, j - 1, k) + c(m, 2, i, j)*v(2, i - 1, j, k) &
            + b(m, 3, i, j)*v(3, i, j - 1, k) + c(m, 3, i, j)*v(3, i - 1, j, k) &
            + b(m, 4, i, j)*v(4, i, j - 1, k) + c(m, 4, i, j)*v(4, i - 1, j, k) &
            + b(m, 5, i, j)*v(5, i, j - 1, k) + c(m, 5, i, j)*v(5, i - 1, j, k))
        end do
        do m = 2, 5 ! first step of the elimination, from d to own
          f = d(m, 1, i, j)/d(1, 1, i, j)
          do q = 2, 5
            own(m, q) = d(m, q, i, j) - f*d(1, q, i, j)
          end do
          tv(m, i, j) = tv(m, i, j) - f*tv(1, i, j)
          own(1, m) = d(1, m, i, j)
        end do
        own(1, 1) = d(1, 1, i, j)
        call eliminate(own, tv(:, i, j))
        v(1, i, j, k) = tv(1, i, j) ! one by one: else a call of memcpy
        v(2, i, j, k) = tv(2, i, j)
        v(3, i, j, k) = tv(3, i, j)
        v(4, i, j, k) = tv(4, i, j)
        v(5, i, j, k) = tv(5, i, j)
      end do
    end do
  end subroutine blts

  ! (D + omega U) v = D v on plane k, after the planes above it.
  subroutine buts(g, k, v, tv, a, b, c, d)
    type(mesh), intent(in) :: g
    integer, intent(in) :: k
    real(dp), intent(inout) :: v(5, g%ld, g%ld, *), tv(5, g%ld, *)
    real(dp), intent(in), dimension(5, 5, g%ld, *) :: a, b, c, d
    real(dp) :: own(5, 5), f
    integer :: i, j, m, q
    do j = g%n - 1, 2, -1
      do i = g%n - 1, 2, -1
        do m = 1, 5
          tv(m, i, j) = omega*( &
            a(m, 1, i, j)*v(1, i, j, k + 1) + a(m, 2, i, j)*v(2, i, j, k + 1) &
            + a(m, 3, i, j)*v(3, i, j, k + 1) + a(m, 4, i, j)*v(4, i, j, k + 1) &
            + a(m, 5, i, j)*v(5, i, j, k + 1))
        end do
      end do
    end do
    do j = g%n - 1, 2, -1
      do i = g%n - 1, 2, -1
        do m = 1, 5
          tv(m, i, j) = tv(m, i, j) + omega*( &
            b(m, 1, i, j)*v(1, i, j + 1, k) + c(m, 1, i, j)*v(1, i + 1, j, k) &
            + b(m, 2, i, j)*v(2, i, j + 1, k) + c(m, 2, i, j)*v(2, i + 1, j, k) &
            + b(m, 3, i, j)*v(3, i, j + 1, k) + c(m, 3, i, j)*v(3, i + 1, j, k) &
            + b(m, 4, i, j)*v(4, i, j + 1, k) + c(m, 4, i, j)*v(4, i + 1, j, k) &
            + b(m, 5, i, j)*v(5, i, j + 1, k) + c(m, 5, i, j)*v(5, i + 1, j, k))
        end do
        do m = 2, 5 ! first step of the elimination, from d to own
          f = d(m, 1, i, j)/d(1, 1, i, j)
          do q = 2, 5
            own(m, q) = d(m, q, i, j) - f*d(1, q, i, j)
          end do
          tv(m, i, j) = tv(m, i, j) - f*tv(1, i, j)
          own(1, m) = d(1, m, i, j)
        end do
        own(1, 1) = d(1, 1, i, j)
        call eliminate(own, tv(:, i, j))
        v(:, i, j, k) = v(:, i, j, k) - tv(:, i, j)
      end do
    end do
  end subroutine buts

  ! Replaces x by the solution y of t y = x, the first column of t being eliminated
  ! already. Leaves the triangular factor in t.
  pure subroutine eliminate(t, x)
    real(dp), intent(inout) :: t(5, 5), x(5)
    real(dp) :: inverse, f
    integer :: p, m, q
    do p = 2, 4
      inverse = 1/t(p, p)
      do m = p + 1, 5
        f = inverse*t(m, p)
        do q = p + 1, 5
          t(m, q) = t(m, q) - f*t(p, q)
        end do
        x(m) = x(m) - f*x(p)
      end do
    end do
    x(5) = x(5)/t(5, 5)
    x(4) = (x(4) - t(4, 5)*x(5))/t(4, 4)
    x(3) = (x(3) - t(3, 4)*x(4) - t(3, 5)*x(5))/t(3, 3)
    x(2) = (x(2) - t(2, 3)*x(3) - t(2, 4)*x(4) - t(2, 5)*x(5))/t(2, 2)
    x(1) = (x(1) - t(1, 2)*x(2) - t(1, 3)*x(3) - t(1, 4)*x(4) - t(1, 5)*x(5))/t(1, 1)
  end subroutine eliminate

end module solve
