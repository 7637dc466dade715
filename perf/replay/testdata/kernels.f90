! Kernels for tests of replay, in Fortran: allocatable arrays, columns first.
module work
contains
  subroutine relax(n, a, b)
    integer, intent(in) :: n
    double precision, intent(in) :: a(n, n)
    double precision, intent(out) :: b(n, n)
    integer :: i, j
    do j = 2, n - 1
      do i = 2, n - 1
        b(i, j) = 0.25d0 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
      end do
    end do
  end subroutine

  subroutine multiply(a, b, c) ! of assumed shape
    double precision, intent(in) :: a(:, :), b(:, :)
    double precision, intent(inout) :: c(:, :)
    integer :: i, j, k
    do j = 1, size(c, 2)
      do k = 1, size(a, 2)
        do i = 1, size(c, 1)
          c(i, j) = c(i, j) + a(i, k) * b(k, j)
        end do
      end do
    end do
  end subroutine
end module

program kernels
  use work
  implicit none
  character(len=16) :: text
  integer :: n, t
  double precision, allocatable :: a(:, :), b(:, :), c(:, :)
  call get_command_argument(1, text)
  read (text, *) n
  allocate (a(n, n), b(n, n), c(n, n))
  a = 1
  b = 0
  c = 0
  do t = 1, 3
    call relax(n, a, b)
    call relax(n, b, a)
  end do
  call multiply(a, b, c)
  if (c(2, 2) < 0) stop 1
end program
