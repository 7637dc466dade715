! Two-point angular correlation: how many pairs of points of the sky lie how far apart, in
! twenty bins of equal ratios of angles, among observed points, between these and random
! ones, and among the random ones. A catalogue is of 32 points; there is an observed one, and
! n random ones, the argument. An angle's bin is found by bisection over cosines. Catalogues
! are allocatable, each point a unit vector.
module sky
  implicit none
  integer, parameter :: dp = kind(1d0), long = 8
  integer, parameter :: points = 32, bins = 20, decade = 5
  real(dp), parameter :: pi = 3.14159265358979323846d0
  real(dp), parameter :: least = pi/180/60 ! one minute of arc

  ! The cosine of an angle in bin b is at most edge(b - 1), and greater than edge(b); what is
  ! nearer than the first lies in bin 0, and what is farther than the last in bins + 1.
  real(dp) :: edge(0:bins)
  integer(long) :: seed = 17

contains

  subroutine edges()
    integer :: b

    do b = 0, bins
      edge(b) = cos(least*10d0**(real(b, dp)/decade))
    end do
  end subroutine

  real(dp) function draw()
    seed = iand(seed*1103515245_long + 12345, 2147483647_long)
    draw = real(ishft(seed, -7), dp)/2**24
  end function

  ! random makes up a catalogue within a cap of the sky; if clustered, every second point
  ! lies close to the one before.
  subroutine random(p, clustered)
    real(dp), intent(out) :: p(3, points)
    logical, intent(in) :: clustered
    real(dp) :: turn, rise, flat
    integer :: i

    turn = 0
    rise = 1
    do i = 1, points
      if (clustered .and. modulo(i, 2) == 0) then
        turn = turn + 0.01d0*draw()
        rise = rise - 0.01d0*draw()
      else
        turn = 2*pi*draw()
        rise = 0.7d0 + 0.3d0*draw()
      end if
      flat = sqrt(1 - rise**2)
      p(:, i) = [flat*cos(turn), flat*sin(turn), rise]
    end do
  end subroutine

  ! bin returns where a cosine belongs.
  integer function bin(cosine)
    real(dp), intent(in) :: cosine
    integer :: low, high, middle

    if (cosine > edge(0)) then
      bin = 0
      return
    end if
    low = 0
    high = bins + 1
    do while (high - low > 1)
      middle = (low + high)/2
      if (cosine > edge(middle)) then
        high = middle
      else
        low = middle
      end if
    end do
    bin = high
  end function

  subroutine within(p, histogram)
    real(dp), intent(in) :: p(3, points)
    integer(long), intent(inout) :: histogram(0:bins + 1)
    integer :: i, j, b

    do i = 1, points - 1
      do j = i + 1, points
        b = bin(p(1, i)*p(1, j) + p(2, i)*p(2, j) + p(3, i)*p(3, j))
        histogram(b) = histogram(b) + 1
      end do
    end do
  end subroutine

  subroutine between(p, q, histogram)
    real(dp), intent(in) :: p(3, points), q(3, points)
    integer(long), intent(inout) :: histogram(0:bins + 1)
    integer :: i, j, b

    do i = 1, points
      do j = 1, points
        b = bin(p(1, i)*q(1, j) + p(2, i)*q(2, j) + p(3, i)*q(3, j))
        histogram(b) = histogram(b) + 1
      end do
    end do
  end subroutine

  ! other returns the bin of two points from the logarithm of their angle.
  integer function other(p, q)
    real(dp), intent(in) :: p(3), q(3)
    real(dp) :: cross(3)

    cross(1) = p(2)*q(3) - p(3)*q(2)
    cross(2) = p(3)*q(1) - p(1)*q(3)
    cross(3) = p(1)*q(2) - p(2)*q(1)
    other = floor(decade*log10(atan2(norm2(cross), dot_product(p, q))/least)) + 1
    other = max(0, min(bins + 1, other))
  end function
end module

program tpacf
  use sky
  implicit none
  integer, parameter :: every = 64 ! one catalogue in as many is counted again
  real(dp), allocatable :: observed(:, :), catalogue(:, :, :)
  integer(long), dimension(0:bins + 1) :: dd, dr, rr, dr_before, rr_before
  real(dp) :: correlation(0:bins + 1), excess(0:bins + 1)
  integer(long) :: pairs
  integer :: n, i, status, wrong
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 1 .or. n > 100000) then
    print '(a)', 'usage: tpacf N'
    stop 2
  end if
  allocate (observed(3, points), catalogue(3, points, n))
  call edges()
  call random(observed, .true.)
  do i = 1, n
    call random(catalogue(:, :, i), .false.)
  end do
  wrong = 0
  dd = 0
  dr = 0
  rr = 0
  call within(observed, dd)
  if (any(dd /= within_again(observed))) wrong = wrong + 1
  do i = 1, n
    dr_before = dr
    rr_before = rr
    call within(catalogue(:, :, i), rr)
    call between(observed, catalogue(:, :, i), dr)
    if (modulo(n - i, every) == 0) then
      if (any(rr - rr_before /= within_again(catalogue(:, :, i)))) wrong = wrong + 1
      if (any(dr - dr_before /= between_again(observed, catalogue(:, :, i)))) wrong = wrong + 1
    end if
  end do

  ! Landy and Szalay's estimate, of pairs as shares of all. All pairs are counted, and what
  ! it adds up to with random pairs for weights is nothing.
  excess = real(n, dp)*dd - dr*(points - 1)/real(points, dp) + rr
  correlation = 0
  where (rr > 0)
    correlation = excess/rr
    excess = correlation*rr
  end where
  pairs = points*(points - 1)/2
  if (sum(dd) /= pairs .or. sum(rr) /= n*pairs) wrong = wrong + 1
  if (sum(dr) /= n*int(points, long)**2) wrong = wrong + 1
  if (.not. abs(sum(excess)) < 1d-9*n*pairs) wrong = wrong + 1
  print '(a,i0,3(a,i0),a,f0.4,a,i0)', 'tpacf: n ', n, ', in bin 15: ', dd(15), ', ', dr(15), &
    ', ', rr(15), ', correlation ', correlation(15), ', wrong ', wrong
  if (wrong /= 0) stop 1

contains

  function within_again(p) result(histogram)
    real(dp), intent(in) :: p(3, points)
    integer(long) :: histogram(0:bins + 1)
    integer :: i, j, b

    histogram = 0
    do j = 2, points
      do i = 1, j - 1
        b = other(p(:, i), p(:, j))
        histogram(b) = histogram(b) + 1
      end do
    end do
  end function

  function between_again(p, q) result(histogram)
    real(dp), intent(in) :: p(3, points), q(3, points)
    integer(long) :: histogram(0:bins + 1)
    integer :: i, j, b

    histogram = 0
    do j = 1, points
      do i = 1, points
        b = other(p(:, i), q(:, j))
        histogram(b) = histogram(b) + 1
      end do
    end do
  end function
end program
