! Relaxation on a square grid, without the Fortran library.
subroutine relax(u, n, steps, total)
  implicit none
  integer, intent(in) :: n, steps
  double precision, intent(inout) :: u(n, n)
  double precision, intent(out) :: total
  integer :: i, j, s
  do s = 1, steps
    do j = 2, n - 1
      do i = 2, n - 1
        u(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
        if (abs(u(i, j)) > 50d0) u(i, j) = dble(nint(u(i, j)))
      end do
    end do
  end do
  total = sum(u) + dble(nint(maxval(u))) + mod(n, 7)
end subroutine
