! Lu is the NAS benchmark LU in Fortran, with the flags, the arrays and the output
! of the Go program in ../lu, less the order hyperplane and some of the checks.
program lu
  use constants
  use norms
  use relaxation
  use right_hand_side
  use setup
  use, intrinsic :: iso_fortran_env, only: error_unit
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite
  implicit none

  ! A NAS class: what it sets, and the values that it must get (NPB 3.3.1).
  type class
    character(1) :: name
    integer :: n, steps
    real(dp) :: dt, residual(5), error(5), integral
  end type class
  type(class), parameter :: classes(3) = [ &
    class('S', 12, 50, 0.5_dp, &
      [1.6196343210976702e-02_dp, 2.1976745164821318e-03_dp, 1.5179927653399185e-03_dp, &
      1.5029584435994323e-03_dp, 3.4264073155896461e-02_dp], &
      [6.4223319957960924e-04_dp, 8.4144342047347926e-05_dp, 5.8588269616485186e-05_dp, &
      5.8474222595157350e-05_dp, 1.3103347914111294e-03_dp], 7.8418928865937083_dp), &
    class('W', 33, 300, 0.0015_dp, &
      [0.1236511638192e+02_dp, 0.1317228477799e+01_dp, 0.2550120713095e+01_dp, &
      0.2326187750252e+01_dp, 0.2826799444189e+02_dp], &
      [0.4867877144216_dp, 0.5064652880982e-01_dp, 0.9281818101960e-01_dp, &
      0.8570126542733e-01_dp, 0.1084277417792e+01_dp], 0.1161399311023e+02_dp), &
    class('A', 64, 250, 2.0_dp, &
      [7.7902107606689367e+02_dp, 6.3402765259692870e+01_dp, 1.9499249727292479e+02_dp, &
      1.7845301160418537e+02_dp, 1.8384760349464247e+03_dp], &
      [2.9964085685471943e+01_dp, 2.8194576365003349_dp, 7.3473412698774742_dp, &
      6.7139225687777051_dp, 7.0715315688392578e+01_dp], 2.6030925604886277e+01_dp)]
  real(dp), parameter :: tolerance = 1e-8_dp

  real(dp), allocatable, dimension(:, :, :, :) :: u, rsd, frct, a, b, c, d
  real(dp), allocatable, dimension(:, :, :) :: rhoi, qs, tv
  real(dp), allocatable :: flux(:, :)
  type(mesh) :: g
  integer :: steps, room, of_class, m
  logical :: quiet
  real(dp), dimension(5) :: residual, error, residual_first, error_first
  real(dp) :: integral
  character(80) :: failure

  call options()
  call allocate_arrays()
  call erhs(g, u, rsd, frct, rhoi, qs, flux)
  call setbv(g, u)
  call setiv(g, u)
  call rhs(g, u, rsd, frct, rhoi, qs, flux)
  call l2norm(g, rsd, residual_first)
  call error_norm(g, u, error_first)
  call ssor(g, steps, u, rsd, frct, rhoi, qs, flux, tv, a, b, c, d)
  call l2norm(g, rsd, residual)
  call error_norm(g, u, error)
  call pintgr(g, u, integral)

  of_class = 0
  do m = 1, size(classes)
    if (classes(m)%n == g%n .and. classes(m)%steps == steps .and. abs(classes(m)%dt - g%dt) < 1e-12_dp) of_class = m
  end do
  call verify()
  if (.not. quiet) call report()
  if (failure /= '') then
    print '(2a)', 'verification: FAILED: ', trim(failure)
    stop 1, quiet=.true.
  end if
  print '(a)', 'verification: successful'

contains

  ! Leading dimensions are odd, as in the serial NPB 3.0.
  subroutine allocate_arrays()
    g%ld = room/2*2 + 1
    g%t1 = real(g%n - 1, dp)**2
    g%t2 = real(g%n - 1, dp)/2
    g%t3 = real(g%n - 1, dp)
    allocate (u(5, g%ld, g%ld, room), rsd(5, g%ld, g%ld, room), frct(5, g%ld, g%ld, room))
    allocate (rhoi(g%ld, g%ld, room), qs(g%ld, g%ld, room), tv(5, g%ld, room), flux(5, room))
    allocate (a(5, 5, g%ld, room), b(5, 5, g%ld, room), c(5, 5, g%ld, room), d(5, 5, g%ld, room))
  end subroutine allocate_arrays

  ! Sets failure to the first thing that is wrong with the result, or to ''.
  subroutine verify()
    type(class) :: want
    failure = ''
    if (.not. all(ieee_is_finite([residual, error, integral]))) then
      failure = 'the solution is not finite'
    else if (.not. all(error < error_first)) then
      failure = 'the error has not fallen'
    else if (of_class > 0) then
      want = classes(of_class)
      if (any(abs(residual - want%residual) > tolerance*want%residual)) then
        failure = 'residual norms differ from class '//want%name
      else if (any(abs(error - want%error) > tolerance*want%error)) then
        failure = 'error norms differ from class '//want%name
      else if (abs(integral - want%integral) > tolerance*want%integral) then
        failure = 'the surface integral differs from class '//want%name
      end if
    end if
  end subroutine verify

  subroutine report()
    print '(a, i0, a, i0, a, i0)', 'lu: n ', g%n, ', arrays for ', room, ', iterations ', steps
    do m = 1, 5
      print '(a, i0, a, f11.9, a, es15.9e2, a, f11.9, a, es15.9e2)', 'component ', m, &
        ': residual ', residual(m)/residual_first(m), ' of ', residual_first(m), &
        ', error ', error(m)/error_first(m), ' of ', error_first(m)
    end do
    print '(a, f0.9)', 'surface integral: ', integral
    if (of_class > 0 .and. failure == '') then
      print '(3a)', 'NAS class ', classes(of_class)%name, ': norms and integral agree to 1e-08'
    end if
  end subroutine report

  ! Reads and checks the command line. An error ends the program with status 2.
  subroutine options()
    character(40) :: name
    integer :: at
    g%n = 12
    g%dt = 2
    steps = 50
    room = -1
    quiet = .false.
    ! A class first, as the others overrule it.
    do at = 1, command_argument_count()
      call get_command_argument(at, name)
      if (name == '-class') call set_class(argument_after(at))
    end do

    at = 1
    do while (at <= command_argument_count())
      call get_command_argument(at, name)
      select case (name)
      case ('-quiet')
        quiet = .true.
        at = at - 1
      case ('-n')
        g%n = whole(at)
      case ('-max')
        room = whole(at)
      case ('-iterations')
        steps = whole(at)
      case ('-dt')
        g%dt = value(at)
      case ('-class')
      case default
        call refuse('unexpected argument '//trim(name))
      end select
      at = at + 2
    end do
    if (g%n < 10 .or. g%n > 200) call refuse('-n: want an integer from 10 to 200')
    if (room == -1) room = g%n
    if (room < g%n .or. room > 200) call refuse('-max: want an integer from n to 200')
    if (steps < 1 .or. steps > 10000) call refuse('-iterations: want an integer from 1 to 10000')
    if (.not. (g%dt >= 1e-6_dp .and. g%dt <= 10)) call refuse('-dt: want a number from 1e-6 to 10')
  end subroutine options

  subroutine set_class(name)
    character(*), intent(in) :: name
    if (.not. any(classes%name == name)) call refuse('-class '//trim(name)//': want one of S, W, A')
    do m = 1, size(classes)
      if (classes(m)%name /= name) cycle
      g%n = classes(m)%n
      steps = classes(m)%steps
      g%dt = classes(m)%dt
    end do
  end subroutine set_class

  ! The integer that is the argument after at.
  integer function whole(at)
    integer, intent(in) :: at
    character(40) :: text
    integer :: status
    text = argument_after(at)
    read (text, '(i40)', iostat=status) whole
    if (status /= 0) call refuse('"'//trim(text)//'": want an integer')
  end function whole

  ! The number that is the argument after at.
  real(dp) function value(at)
    integer, intent(in) :: at
    character(40) :: text
    integer :: status
    text = argument_after(at)
    read (text, '(f40.0)', iostat=status) value
    if (status /= 0) call refuse('"'//trim(text)//'": want a number')
  end function value

  character(40) function argument_after(at)
    integer, intent(in) :: at
    character(40) :: name
    call get_command_argument(at, name)
    call get_command_argument(at + 1, argument_after)
    if (argument_after == '') call refuse(trim(name)//': a value is missing')
  end function argument_after

  subroutine refuse(why)
    character(*), intent(in) :: why
    write (error_unit, '(2a)') 'lu: ', why
    stop 2, quiet=.true.
  end subroutine refuse

end program lu
