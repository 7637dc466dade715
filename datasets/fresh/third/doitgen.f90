! Many vectors times one matrix, as in multiresolution chemistry: a(:, q, r) of 24 elements is
! replaced by its product with c4, for all q and r up to n, the argument. Whole numbers; the
! arrays are allocatable.
program doitgen
  implicit none
  integer, parameter :: dp = kind(1d0), np = 24
  real(dp), allocatable :: a(:, :, :), c4(:, :)
  real(dp) :: weights(np), weighted(np), expected
  integer :: n, p, q, r, s, status, wrong
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 1 .or. n > 2048) then
    print '(a)', 'usage: doitgen N'
    stop 2
  end if
  allocate (a(np, n, n), c4(np, np))
  do p = 1, np
    do s = 1, np
      c4(s, p) = modulo(s*p, 13) - 6
    end do
  end do
  do r = 1, n
    do q = 1, n
      do p = 1, np
        a(p, q, r) = element(p, q, r)
      end do
    end do
  end do
  call transform(a, c4)

  ! Weighted sums of each product, exactly, from the weighted sums of c4's rows.
  wrong = 0
  do p = 1, np
    weights(p) = modulo(p*p, 11) + 1
  end do
  weighted = matmul(c4, weights)
  do r = 1, n
    do q = 1, n
      expected = 0
      do s = 1, np
        expected = expected + weighted(s)*element(s, q, r)
      end do
      if (dot_product(weights, a(:, q, r)) /= expected) wrong = wrong + 1
    end do
  end do
  ! One vector wholly.
  q = (n + 1)/2
  do p = 1, np
    expected = 0
    do s = np, 1, -1
      expected = expected + element(s, q, n)*(modulo(s*p, 13) - 6)
    end do
    if (a(p, q, n) /= expected) wrong = wrong + 1
  end do
  print '(a,i0,a,f0.1,a,i0)', 'doitgen: n ', n, ', last ', a(np, n, n), ', wrong ', wrong
  if (wrong /= 0) stop 1

contains

  real(dp) function element(p, q, r)
    integer, intent(in) :: p, q, r

    element = iand(p*7 + q*5 + r*3 + q*r, 31) - 15
  end function

  subroutine transform(a, c4)
    real(dp), intent(inout) :: a(:, :, :)
    real(dp), intent(in) :: c4(:, :)
    real(dp) :: total(np)
    integer :: p, q, r, s

    do r = 1, size(a, 3)
      do q = 1, size(a, 2)
        do p = 1, np
          total(p) = 0
          do s = 1, np
            total(p) = total(p) + a(s, q, r)*c4(s, p)
          end do
        end do
        do p = 1, np
          a(p, q, r) = total(p)
        end do
      end do
    end do
  end subroutine
end program
