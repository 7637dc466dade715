! Gaussian elimination, without pivoting, of a matrix of order n.
program elimination
  implicit none
  integer :: i, j, k
  real(8), allocatable :: a(:,:)
  character(len=32) :: text
  integer :: n
  n = 50
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) n
  end if
  allocate (a(n, n))
  do j = 1, n
    do i = 1, n
      a(i, j) = 1d0 / (i + j)
    end do
    a(j, j) = a(j, j) + n
  end do
  do k = 1, n - 1
    do i = k + 1, n
      a(i, k) = a(i, k) / a(k, k)
    end do
    do j = k + 1, n
      do i = k + 1, n
        a(i, j) = a(i, j) - a(i, k) * a(k, j)
      end do
    end do
  end do
  print *, n, a(n, n)
end program
