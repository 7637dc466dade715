! Fortran for a decoder: whole-array expressions, reductions, strides.
program stencil
  implicit none
  integer, parameter :: n = 100
  real(8) :: u(n, n, n), v(n, n, n)
  real(4) :: w(n)
  integer :: i, step
  u = 1d0; v = 0d0
  do step = 1, 3
    v(2:n-1, 2:n-1, 2:n-1) = (u(1:n-2, 2:n-1, 2:n-1) + u(3:n, 2:n-1, 2:n-1) + u(2:n-1, 1:n-2, 2:n-1) &
      + u(2:n-1, 3:n, 2:n-1) + u(2:n-1, 2:n-1, 1:n-2) + u(2:n-1, 2:n-1, 3:n)) / 6
    where (v > 0.5d0)
      u = v
    elsewhere
      u = u * 0.5d0
    end where
  end do
  w = [(real(i) ** 1.5, i = 1, n)]
  print *, sum(u), maxval(w), minloc(w), matmul(u(1:4, 1:4, 5), v(1:4, 1:4, 5))
end program
