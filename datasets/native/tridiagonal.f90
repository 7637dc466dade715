! Twenty tridiagonal systems of n equations, by Thomas's algorithm.
program tridiagonal
  implicit none
  integer :: i, times
  real(8), allocatable :: c(:), d(:)
  real(8) :: w
  character(len=32) :: text
  integer :: n
  n = 50
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) n
  end if
  allocate (c(n), d(n))
  do times = 1, 20
    c(1) = 0.25d0
    d(1) = 1
    do i = 2, n
      w = 1d0 / (4d0 - c(i-1))
      c(i) = w
      d(i) = (mod(i, 9) - d(i-1)) * w
    end do
    do i = n - 1, 1, -1
      d(i) = d(i) - c(i) * d(i+1)
    end do
  end do
  print *, n, d(n / 2)
end program
