! Exercises the Fortran library: allocation, intrinsics, internal input and
! output. Nothing is read or printed.
program library
  implicit none
  integer, parameter :: n = 24
  double precision, allocatable :: a(:, :), b(:, :), c(:, :)
  complex :: z(n)
  character(len=400) :: text
  character(len=20) :: word
  integer :: i, j, k, count
  double precision :: total, back
  allocate (a(n, n), b(n, n))
  do j = 1, n
    do i = 1, n
      a(i, j) = sin(dble(i * j)) + 1d0 / (i + j)
      b(i, j) = sqrt(dble(i)) * merge(1d0, -1d0, mod(i + j, 3) == 0)
    end do
    z(j) = cmplx(j, -j) ** 2 / cmplx(3.0, 0.5)
  end do
  c = matmul(a, transpose(b))
  total = sum(c, mask=c > 0) + maxval(abs(z)) + dot_product(a(:, 1), b(:, 2)) + norm2(a)
  count = 0
  do k = 1, 12
    write (text, '(3(es14.6, 1x), i8, f10.3, l2, a)') c(k, k), a(k, 1), total, k * 7919, real(z(k)), k > 3, 'end'
    read (text, *) back
    if (abs(back - c(k, k)) <= 1d-4 * abs(c(k, k))) count = count + 1
    word = adjustl(text(1:20))
    count = count + index(text, 'end') + len_trim(word) + nint(c(k, k)) - floor(back) + scan(word, '.')
  end do
  deallocate (a, b, c)
  if (count < 0) stop 2
end program
