! A program whose size is compiled in, as -DN. With many streams the compiler keeps other
! addresses in memory at each size, and the names of arrays tell where they lie.
module arrays
  implicit none
  real(8), save :: u(N, N, N), v(N, N, N), f(N, N, N)
contains
  subroutine smooth(to, from)
    real(8), intent(inout) :: to(N, N, N)
    real(8), intent(in) :: from(N, N, N)
    integer :: i, j, k
    do k = 2, N - 1
      do j = 2, N - 1
        do i = 2, N - 1
          to(i, j, k) = (from(i - 1, j, k) + from(i + 1, j, k) + from(i, j - 1, k) + from(i, j + 1, k) &
                         + from(i, j, k - 1) + from(i, j, k + 1) - f(i, j, k))/6 + to(i, j, k)
        end do
      end do
    end do
  end subroutine
end module

program spills
  use arrays
  implicit none
  integer :: i, j, k, t
  do k = 1, N
    do j = 1, N
      do i = 1, N
        u(i, j, k) = i + j*k
        v(i, j, k) = 0
        f(i, j, k) = 1
      end do
    end do
  end do
  do t = 1, 2
    call smooth(v, u)
    call smooth(u, v)
  end do
  if (u(2, 2, 2) < 0) stop 1
end program
