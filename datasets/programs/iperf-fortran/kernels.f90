! The kernels of iperf-c in Fortran, as Figure 3 of Hsu and Kremer has the first
! of them, for main.c of that program in place of its kernels.c.

subroutine kernel_ij(a, n) bind(c)
  use iso_c_binding, only: c_double, c_long
  integer(c_long), value :: n
  real(c_double) :: a(n, n)
  integer(c_long) :: i, j
  do i = 1, n
    do j = 1, n
      a(i, j) = a(i, j) + 1.0d0
    end do
  end do
end subroutine

subroutine kernel_ji(a, n) bind(c)
  use iso_c_binding, only: c_double, c_long
  integer(c_long), value :: n
  real(c_double) :: a(n, n)
  integer(c_long) :: i, j
  do j = 1, n
    do i = 1, n
      a(i, j) = a(i, j) + 1.0d0
    end do
  end do
end subroutine

! kernel_copy is a loop as long as compilers are not asked for more: from -O2 on
! gfortran calls memcpy.
subroutine kernel_copy(b, a, n) bind(c)
  use iso_c_binding, only: c_double, c_long
  integer(c_long), value :: n
  real(c_double) :: a(n), b(n)
  integer(c_long) :: i
  do i = 1, n
    b(i) = a(i)
  end do
end subroutine

! kernel_stencil's arrays lie row by row for the caller, so that the indices stand
! the other way round here.
subroutine kernel_stencil(b, a, n) bind(c)
  use iso_c_binding, only: c_double, c_long
  integer(c_long), value :: n
  real(c_double) :: a(n, n), b(n, n)
  integer(c_long) :: i, j
  do i = 2, n - 1
    do j = 2, n - 1
      b(j, i) = a(j, i) + a(j, i - 1) + a(j - 1, i) + a(j + 1, i) + a(j, i + 1)
    end do
  end do
end subroutine
