! A recurrence with a condition that depends on what came before: a flux goes down n zones,
! in each of which the value at the middle gives that at the far side by extrapolation,
! unless one of those before is too large for it, when a step of another kind is taken. The
! number of zones is the argument; arrays are allocatable.
program implicit
  implicit none
  integer, parameter :: dp = kind(1d0), repeats = 40
  real(dp), parameter :: scale = 5d0/3
  integer :: n, i, t, status, steps, missed
  real(dp), allocatable :: rate(:), source(:), step(:), stepSource(:)
  real(dp), allocatable :: middle(:), side(:), entering(:), before(:)
  real(dp) :: worst
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 2) then
    print '(a)', 'usage: implicit N, at least 2'
    stop 2
  end if
  allocate (rate(n), source(n), step(n), stepSource(n))
  allocate (middle(n), side(n), entering(n), before(n))
  do i = 1, n
    rate(i) = 0.2d0 + 0.05d0*modulo(i*7, 11)
    source(i) = 0.05d0 + 0.05d0*modulo(i*5, 13)
    step(i) = 0.3d0 + 0.03d0*modulo(i*3, 10)
    stepSource(i) = 0.05d0 + 0.01d0*modulo(i, 7)
    side(i) = 0.4d0 + 0.1d0*modulo(i, 9)
  end do
  worst = 0
  missed = 0
  do t = 1, repeats
    if (t >= repeats - 1) before = side
    call sweep(rate, source, step, stepSource, middle, side, entering, steps, 1d0/(2 + t), &
      strength(t))
    if (t >= repeats - 1) call check(t) ! once after a stronger source, once after a weaker
  end do
  print '(a,i0,a,es8.1,a,i0)', 'implicit: n ', n, ', error', worst, ', steps missed ', missed
  if (.not. worst < 1d-12 .or. missed /= 0 .or. .not. sum(middle) > 0) stop 1

contains

  ! strength is that of the source, in a repetition.
  pure real(dp) function strength(t)
    integer, intent(in) :: t

    strength = 0.5d0 + modulo(t, 3)*0.5d0
  end function

  ! check computes each zone again, from what entered it.
  subroutine check(t)
    integer, intent(in) :: t
    integer :: i
    real(dp) :: flux, mean

    do i = 1, n
      flux = entering(i)
      mean = flux*rate(i) + source(i)*strength(t)
      if (max(flux, before(i)) > scale*mean) then
        steps = steps - 1
        flux = flux*step(i) + stepSource(i)
        worst = max(worst, abs(middle(i) - flux), abs(side(i) - flux))
      else
        worst = max(worst, abs(middle(i) - mean), abs(0.5d0*(side(i) + before(i)) - mean))
        flux = 2*mean - flux
      end if
      if (i > 1) worst = max(worst, abs(entering(i - 1) - flux))
    end do
    worst = max(worst, abs(entering(n) - 1d0/(2 + t)))
    missed = missed + abs(steps)
  end subroutine

  ! sweep goes from the last zone to the first, which flux enters from above.
  subroutine sweep(rate, source, step, stepSource, middle, side, entering, steps, above, strong)
    real(dp), intent(in) :: rate(:), source(:), step(:), stepSource(:), above, strong
    real(dp), intent(inout) :: middle(:), side(:), entering(:)
    integer, intent(out) :: steps
    integer :: i
    real(dp) :: flux, e, limit

    flux = above
    steps = 0
    do i = size(rate), 1, -1
      e = flux*rate(i) + source(i)*strong
      entering(i) = flux
      limit = scale*e
      if (flux > limit .or. side(i) > limit) then
        steps = steps + 1
        e = flux*step(i) + stepSource(i)
        middle(i) = e
        side(i) = e
        flux = e
      else
        middle(i) = e
        side(i) = e + e - side(i)
        flux = e + e - flux
      end if
    end do
  end subroutine
end program
