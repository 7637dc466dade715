! A fragment of an equation of state: each element of a vector from seven neighbours of
! another and from two more vectors, by nested products, with other factors each time. The
! number of elements is the argument; arrays are allocatable.
program eos
  implicit none
  integer, parameter :: dp = kind(1d0), repeats = 30
  integer :: n, i, t, status, wrong
  real(dp), allocatable :: x(:), y(:), z(:), u(:)
  real(dp) :: q, r, s, shifted(0:6), total
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 1) then
    print '(a)', 'usage: eos N'
    stop 2
  end if
  allocate (x(n), y(n), z(n), u(n + 6))
  ! Small whole numbers, and factors that are multiples of 1/8: all results are exact.
  do i = 1, n
    y(i) = modulo(i*3, 19) - 8
    z(i) = modulo(i*5, 29) - 13
  end do
  do i = 1, n + 6
    u(i) = modulo(i*7, 31) - 14
  end do
  wrong = 0
  do t = 1, repeats
    q = modulo(t, 5)*0.125d0
    r = modulo(t, 7)*0.25d0 - 0.5d0
    s = modulo(t, 3)*0.25d0 + 0.125d0
    call fragment(x, y, z, u, q, r, s)
    i = 1 + modulo(t*7919, n)
    if (x(i) /= other(y(i), z(i), u(i:i + 6), q, r, s)) wrong = wrong + 1
  end do
  ! The sum of all is the same function of sums.
  do i = 0, 6
    shifted(i) = sum(u(1 + i:n + i))
  end do
  total = other(sum(y), sum(z), shifted, q, r, s)
  if (sum(x) /= total) wrong = wrong + 1
  print '(a,i0,a,f0.6,a,i0)', 'eos: n ', n, ', sum ', total, ', wrong ', wrong
  if (wrong /= 0) stop 1

contains

  subroutine fragment(x, y, z, u, q, r, s)
    real(dp), intent(out) :: x(:)
    real(dp), intent(in) :: y(:), z(:), u(:), q, r, s
    integer :: i

    do i = 1, size(x)
      x(i) = u(i) + r*(z(i) + r*y(i)) &
        + s*(u(i + 3) + r*(u(i + 2) + r*u(i + 1)) &
        + s*(u(i + 6) + q*(u(i + 5) + q*u(i + 4))))
    end do
  end subroutine

  ! other returns the same, multiplied out.
  real(dp) function other(y, z, u, q, r, s)
    real(dp), intent(in) :: y, z, u(0:6), q, r, s

    other = u(0) + r*z + r**2*y + s*u(3) + s*r*u(2) + s*r**2*u(1) &
      + s**2*u(6) + s**2*q*u(5) + s**2*q**2*u(4)
  end function
end program
