! kernel.f90 is two loop nests over arrays whose size is a PARAMETER, set by
! -DN=20; start.c calls it.
module arrays
  implicit none
  integer, parameter :: n = N
  real(8) :: a(n, n), b(n, n), c(n, n)
end module

subroutine kernel() bind(c)
  use arrays
  implicit none
  integer :: i, j, k
  do j = 1, n
    do i = 1, n
      a(i, j) = i + j
      b(i, j) = i - j
      c(i, j) = 0
    end do
  end do
  do j = 1, n
    do k = 1, n
      do i = 1, n
        c(i, j) = c(i, j) + a(i, k) * b(k, j)
      end do
    end do
  end do
  do i = 2, n - 1
    do j = 2, n - 1
      a(i, j) = c(i - 1, j) + c(i + 1, j) + c(i, j - 1) + c(i, j + 1)
    end do
  end do
end subroutine
