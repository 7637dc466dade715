! The product of two matrices of order n, column by column.
program product
  implicit none
  integer :: i, j, k
  real(8), allocatable :: a(:,:), b(:,:), c(:,:)
  character(len=32) :: text
  integer :: n
  n = 50
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) n
  end if
  allocate (a(n, n), b(n, n), c(n, n))
  do j = 1, n
    do i = 1, n
      a(i, j) = mod(i + j, 5)
      b(i, j) = mod(i - j, 3)
    end do
  end do
  c = 0
  do j = 1, n
    do k = 1, n
      do i = 1, n
        c(i, j) = c(i, j) + a(i, k) * b(k, j)
      end do
    end do
  end do
  print *, n, c(n / 2, n / 2)
end program
