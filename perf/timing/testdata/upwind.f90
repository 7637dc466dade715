! Transport of a quantity by a wind that turns, upwind differences in a box, three
! allocatable arrays of the size that the argument gives.
program upwind
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer :: n, i, j, k, t, status
  real(dp), allocatable :: q(:, :, :), r(:, :, :), w(:, :)
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 4) stop 2
  allocate (q(n, n, n), r(n, n, n), w(n, n))
  do j = 1, n
    do i = 1, n
      w(i, j) = 0.01d0*(i - j)/n
    end do
  end do
  do k = 1, n
    do j = 1, n
      do i = 1, n
        q(i, j, k) = 1d0/(i + 2*j + 3*k)
      end do
    end do
  end do
  r = q
  do t = 1, 3
    call step(q, r, w, n)
    call step(r, q, w, n)
  end do
  if (.not. (q(2, 2, 2) > 0)) stop 1

contains

  subroutine step(a, b, w, n)
    integer, intent(in) :: n
    real(dp), intent(in) :: a(n, n, n), w(n, n)
    real(dp), intent(inout) :: b(n, n, n)
    integer :: i, j, k

    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          b(i, j, k) = a(i, j, k) + w(i, j)*(a(i, j, k) - a(i - 1, j, k)) &
            + 0.02d0*(a(i, j + 1, k) - a(i, j, k)) + 0.01d0*(a(i, j, k - 1) + a(i, j, k + 1) - 2*a(i, j, k))
        end do
      end do
    end do
  end subroutine
end program
