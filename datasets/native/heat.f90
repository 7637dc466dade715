! Five steps of heat conduction in a cube of n points a side.
program heat
  implicit none
  integer :: i, j, k, step
  real(8), allocatable :: a(:,:,:), b(:,:,:)
  character(len=32) :: text
  integer :: n
  n = 50
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) n
  end if
  allocate (a(n, n, n), b(n, n, n))
  do k = 1, n
    do j = 1, n
      do i = 1, n
        a(i, j, k) = mod(i + 2 * j + 3 * k, 7)
        b(i, j, k) = a(i, j, k)
      end do
    end do
  end do
  do step = 1, 5
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          b(i, j, k) = 0.4d0 * a(i, j, k) + 0.1d0 * (a(i-1, j, k) + a(i+1, j, k) &
            + a(i, j-1, k) + a(i, j+1, k) + a(i, j, k-1) + a(i, j, k+1))
        end do
      end do
    end do
    a = b
  end do
  print *, n, a(n / 2, n / 2, n / 2)
end program
