! A search of the Monte Carlo kind: through the records of n zones, the argument, by jumps
! that depend on the data. A record refers to a plan, or to a density and those before it,
! which is compared with one of three thresholds; then its sign says whether the zone is
! left for the next. A search ends where a plan is at its threshold, or when it has been
! around. Of twelve searches, three look for a plan that there is. Arrays are allocatable.
program montecarlo
  implicit none
  integer, parameter :: dp = kind(1d0), width = 12, searches = 12, long = 8
  type outcome
    integer :: zone, steps, dense
  end type
  integer, allocatable :: entry(:, :), sign(:, :)
  real(dp), allocatable :: plan(:), density(:)
  integer(long) :: seed = 41, all
  integer :: n, t, start, status, wrong, found
  real(dp) :: threshold(3)
  type(outcome) :: o, expected
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 10 .or. n > 10000000) then
    print '(a)', 'usage: montecarlo N, from 10'
    stop 2
  end if
  allocate (entry(width, n), sign(width, n), plan(n), density(-3:n))
  call fill()
  wrong = 0
  found = 0
  all = 0
  do t = 1, searches
    start = 1 + modulo(t*7919, n)
    call choose(t, start, threshold)
    o = search(start, threshold)
    all = all + o%steps
    if (o%zone > 0) then
      found = found + 1
      if (all_at(o%zone, threshold) == 0) wrong = wrong + 1
    end if
    ! Those that may end early, and the last, are done again in another way.
    if (modulo(t, 4) == 3 .or. t == searches) then
      expected = again(start, threshold)
      if (o%zone /= expected%zone .or. o%steps /= expected%steps &
        .or. o%dense /= expected%dense) wrong = wrong + 1
    end if
  end do
  if (found /= searches/4) wrong = wrong + 1
  print '(4(a,i0))', 'montecarlo: n ', n, ', steps ', all, ', found ', found, &
    ', wrong ', wrong
  if (wrong /= 0) stop 1

contains

  ! draw returns a number from 0 to below.
  integer function draw(below)
    integer, intent(in) :: below

    seed = iand(seed*1103515245_long + 12345, 2147483647_long)
    draw = int(ishft(seed*below, -31))
  end function

  subroutine fill()
    integer :: i, k

    do i = 1, n
      plan(i) = 2*draw(500000) ! even: an odd threshold is never met
      density(i) = draw(1000)*0.001d0
    end do
    density(-3:0) = 0.5d0
    do i = 1, n
      do k = 1, width
        entry(k, i) = 1 + draw(2*n)
        sign(k, i) = 2*draw(2) - 1
      end do
    end do
  end subroutine

  ! choose draws thresholds; one of four times the first is that of a plan to which the
  ! first record of a zone refers, an eighth of all zones ahead or a little more.
  subroutine choose(t, start, threshold)
    integer, intent(in) :: t, start
    real(dp), intent(out) :: threshold(3)
    integer :: k, m

    do k = 1, 3
      threshold(k) = 200001 + 2*draw(300000)
    end do
    if (modulo(t, 4) /= 3) return
    do k = n/8, n/8 + n - 1
      m = 1 + modulo(start - 1 + k, n)
      if (3*entry(1, m) <= n) exit
    end do
    threshold(1) = plan(entry(1, m))
  end subroutine

  function search(start, threshold) result(o)
    integer, intent(in) :: start
    real(dp), intent(in) :: threshold(3)
    type(outcome) :: o
    integer :: m, k, e
    real(dp) :: difference

    o = outcome(0, 0, 0)
    m = start
    zones: do
      records: do k = 1, width
        o%steps = o%steps + 1
        e = entry(k, m)
        if (e > n) then
          o%dense = o%dense + 1
          difference = across(e - n, threshold)
        else if (3*e <= n) then
          difference = plan(e) - threshold(1)
        else if (3*e <= 2*n) then
          difference = plan(e) - threshold(2)
        else
          difference = plan(e) - threshold(3)
        end if
        if (difference < 0) then
          if (sign(k, m) < 0) exit records
        else if (difference > 0) then
          if (sign(k, m) > 0 .and. k > width/2) exit records
        else
          o%zone = m
          exit zones
        end if
      end do records
      m = m + 1
      if (m > n) m = 1
      if (m == start) exit zones
    end do zones
  end function

  ! across compares a density with squares of those before.
  real(dp) function across(i, threshold)
    integer, intent(in) :: i
    real(dp), intent(in) :: threshold(3)
    real(dp) :: r, s

    r = threshold(2)*1d-6
    s = threshold(3)*1d-6
    across = density(i) - density(i - 1)*(r - density(i - 2))**2 &
      - (s - density(i - 3))**2 - 0.1234567891d0
  end function

  ! all_at returns how many of a zone's records are at their thresholds.
  integer function all_at(m, threshold)
    integer, intent(in) :: m
    real(dp), intent(in) :: threshold(3)
    integer :: k

    all_at = count([(value(k, m, threshold) == 0, k=1, width)])
  end function

  ! value returns what is compared with zero at a record, as a mask would.
  real(dp) function value(k, m, threshold)
    integer, intent(in) :: k, m
    real(dp), intent(in) :: threshold(3)
    integer :: e, i

    e = entry(k, m)
    if (e <= n) then
      value = plan(e) - threshold(1 + (3*e - 1)/n)
    else
      i = e - n
      value = density(i) - density(i - 1)*(threshold(2)*1d-6 - density(i - 2))**2 &
        - (threshold(3)*1d-6 - density(i - 3))**2 - 0.1234567891d0
    end if
  end function

  ! again finds the same from whole zones: where each is left, and by what.
  function again(start, threshold) result(o)
    integer, intent(in) :: start
    real(dp), intent(in) :: threshold(3)
    type(outcome) :: o
    real(dp) :: values(width)
    logical :: leaves(width)
    integer :: j, k, m, last

    o = outcome(0, 0, 0)
    do j = 0, n - 1
      m = 1 + modulo(start - 1 + j, n)
      do k = 1, width
        values(k) = value(k, m, threshold)
        leaves(k) = values(k) == 0 .or. values(k) < 0 .and. sign(k, m) == -1 &
          .or. values(k) > 0 .and. sign(k, m) == 1 .and. 2*k > width
      end do
      last = findloc(leaves, .true., dim=1)
      if (last == 0) last = width
      o%steps = o%steps + last
      o%dense = o%dense + count(entry(:last, m) > n)
      if (values(last) == 0) then
        o%zone = m
        exit
      end if
    end do
  end function
end program
