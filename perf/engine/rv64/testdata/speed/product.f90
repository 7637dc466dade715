! A matrix product in the order in which compilers vectorise it.
! Arguments: order, repetitions.
program product
  implicit none
  integer :: n, times, t, i, j, k
  character(len=16) :: arg
  real(8), allocatable :: a(:,:), b(:,:), c(:,:)
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) times
  allocate (a(n,n), b(n,n), c(n,n))
  do j = 1, n
    do i = 1, n
      a(i,j) = 1d0/(i + j)
      b(i,j) = i - j
    end do
  end do
  c = 0
  do t = 1, times
    do j = 1, n
      do k = 1, n
        do i = 1, n
          c(i,j) = c(i,j) + a(i,k)*b(k,j)
        end do
      end do
    end do
  end do
  print '(es12.4)', sum(c)
end program
