! Symmetric rank-k update C = A A', the lower triangle, by columns. The size N is
! fixed at compile time; arrays are static.
#ifndef N
#define N 64
#endif
module matrices
  implicit none
  integer, parameter :: dp = kind(1d0)
  real(dp), save :: a(N, N), c(N, N)
contains
  subroutine update()
    integer :: i, j, k
    do j = 1, N
      do i = j, N
        c(i, j) = 0
      end do
      do k = 1, N
        do i = j, N
          c(i, j) = c(i, j) + a(i, k)*a(j, k)
        end do
      end do
    end do
  end subroutine
end module

program syrk
  use matrices
  implicit none
  integer :: i, j
  real(dp) :: x(N), y(N), z(N), worst

  do j = 1, N
    do i = 1, N
      a(i, j) = modulo(i*11 + j*17 + i*j, 23) - 11
    end do
  end do
  call update()
  ! C x against A (A' x); all are whole numbers below 2**53.
  do i = 1, N
    x(i) = modulo(i, 5) - 2
  end do
  do j = 1, N
    y(j) = dot_product(a(:, j), x)
  end do
  z = 0
  do j = 1, N
    z = z + a(:, j)*y(j)
  end do
  do j = 1, N
    z(j) = z(j) - c(j, j)*x(j)
    do i = j + 1, N
      z(i) = z(i) - c(i, j)*x(j)
      z(j) = z(j) - c(i, j)*x(i)
    end do
  end do
  worst = maxval(abs(z))
  print '(a,i0,a,es8.1)', 'syrk: n ', N, ', error', worst
  if (worst /= 0) stop 1
end program
