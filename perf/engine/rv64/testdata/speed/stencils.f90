! Array expressions and a stencil of 13 points on three arrays of three dimensions.
! Arguments: points a side, repetitions.
program stencils
  implicit none
  integer :: n, times, t, i, j, k
  character(len=16) :: arg
  real(8), allocatable :: a(:,:,:), b(:,:,:), c(:,:,:)
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) times
  allocate (a(n,n,n), b(n,n,n), c(n,n,n))
  do k = 1, n
    do j = 1, n
      do i = 1, n
        a(i,j,k) = 1d0/(i + 2*j) + 0.01d0*k
      end do
    end do
  end do
  b = 0
  c = 1
  do t = 1, times
    b(2:n-1,2:n-1,2:n-1) = 0.4d0*a(2:n-1,2:n-1,2:n-1) + 0.1d0*(a(1:n-2,2:n-1,2:n-1) + a(3:n,2:n-1,2:n-1) &
      + a(2:n-1,1:n-2,2:n-1) + a(2:n-1,3:n,2:n-1) + a(2:n-1,2:n-1,1:n-2) + a(2:n-1,2:n-1,3:n))
    c = c + b*a - 0.5d0*c
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          a(i,j,k) = b(i,j,k) + 0.05d0*(c(i-1,j-1,k) + c(i+1,j-1,k) + c(i-1,j+1,k) + c(i+1,j+1,k) &
            + c(i-1,j,k-1) + c(i+1,j,k-1) + c(i-1,j,k+1) + c(i+1,j,k+1) &
            + c(i,j-1,k-1) + c(i,j+1,k-1) + c(i,j-1,k+1) + c(i,j+1,k+1) - 12*c(i,j,k))
        end do
      end do
    end do
    a = a/(1 + abs(a)*0.01d0)
  end do
  print '(2es12.4)', sum(a), sum(c)
end program
