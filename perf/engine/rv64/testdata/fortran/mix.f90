! Exercises a static Fortran program: formatted input and output, complex
! numbers, allocatable arrays, array expressions, internal files, system_clock.
program mix
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  real(dp), allocatable :: a(:, :), b(:, :), c(:, :)
  complex(dp) :: z
  real :: x
  integer :: i, j, n, ios, count0, count1
  character(len=40) :: text

  n = 40
  allocate (a(n, n), b(n, n), c(n, n))
  do j = 1, n
    do i = 1, n
      a(i, j) = 1.0_dp/(i + j - 1)
      b(i, j) = merge(1.0_dp, 0.25_dp*i, i == j)
    end do
  end do
  call system_clock(count0)
  c = matmul(a, b)
  call system_clock(count1)
  print '(a, es22.14, l2)', 'trace', sum([(c(i, i), i=1, n)]), count1 >= count0
  z = (0.5_dp, 1.25_dp)
  do i = 1, 10
    z = z*z/abs(z) + exp(cmplx(0.0_dp, 0.1_dp*i, dp))
  end do
  print '(a, 2f20.14)', 'complex', z
  x = 1.0
  do i = 1, 20
    x = sqrt(x + real(i)/3.0)
  end do
  print *, 'single', x, int(x*1e6), nint(-x), huge(i), tiny(1.0_dp)
  write (text, '(i0, 1x, f0.5, 1x, z8.8)') -42, 3.14159_dp, 48879
  print '(a)', trim(text)
  print '(5f8.3)', maxval(a, dim=1) - minval(c, dim=2)
  do
    read (*, *, iostat=ios) i, x
    if (ios /= 0) exit
    print '(i6, f10.4)', i*2, x/2
  end do
  deallocate (a)
  print *, allocated(a), size(b), any(b > 9.9_dp)
  stop 3
end program mix
