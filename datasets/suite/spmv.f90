! A sparse matrix in compressed rows times a vector, several times: nine points of an
! n x n mesh, and two more columns a row at random places. The size is read from the
! file that the argument names; arrays are allocatable.
program spmv
  implicit none
  integer, parameter :: dp = kind(1d0), extra = 2, repeats = 5
  integer :: n, rows, r, i, j, di, dj, e, unit, status, t
  integer, allocatable :: start(:), column(:)
  real(dp), allocatable :: value(:), x(:), y(:)
  real(dp) :: worst
  integer(8) :: seed
  character(256) :: path

  call get_command_argument(1, path)
  n = 0
  open (newunit=unit, file=trim(path), status='old', action='read', iostat=status)
  if (status == 0) then
    read (unit, *, iostat=status) n
    close (unit)
  end if
  if (status /= 0 .or. n < 3) then
    print '(a)', 'usage: spmv FILE, which holds the edge of the mesh, at least 3'
    stop 2
  end if
  rows = n*n
  allocate (start(rows + 1), column(rows*(9 + extra)), value(rows*(9 + extra)), x(rows), y(rows))
  seed = 12345
  e = 1
  do r = 1, rows
    start(r) = e
    i = (r - 1)/n
    j = mod(r - 1, n)
    do di = max(i - 1, 0), min(i + 1, n - 1)
      do dj = max(j - 1, 0), min(j + 1, n - 1)
        column(e) = di*n + dj + 1
        value(e) = 1
        e = e + 1
      end do
    end do
    do t = 1, extra
      seed = mod(seed*1103515245_8 + 12345_8, 2147483648_8)
      column(e) = int(mod(seed/65536_8*32768_8 + seed/256_8, int(rows, 8))) + 1
      value(e) = -0.5_dp
      e = e + 1
    end do
  end do
  start(rows + 1) = e
  ! Each row adds up to the neighbours of its point, without one for the others.
  x = 1
  worst = 0
  do t = 1, repeats
    call multiply(rows, start, column, value, x, y)
    do r = 1, rows
      worst = max(worst, abs(y(r) - (start(r + 1) - start(r) - extra - 1)*x(r)))
    end do
    x = x + x
  end do
  print '(a,i0,a,es8.1)', 'spmv: n ', n, ', error', worst
  if (worst /= 0) stop 1

contains

  subroutine multiply(rows, start, column, value, x, y)
    integer, intent(in) :: rows, start(*), column(*)
    real(dp), intent(in) :: value(*), x(*)
    real(dp), intent(out) :: y(*)
    integer :: r, e
    real(dp) :: sum

    do r = 1, rows
      sum = 0
      do e = start(r), start(r + 1) - 1
        sum = sum + value(e)*x(column(e))
      end do
      y(r) = sum
    end do
  end subroutine
end program
