! The matrix Q of magnetic resonance image reconstruction: for each of n voxels, a sum over
! samples of the trajectory in frequency space, in single precision, sample by sample. The
! number of voxels is the argument; arrays are allocatable.
program mriq
  implicit none
  integer, parameter :: sp = kind(1.0), dp = kind(1d0), samples = 64
  real(sp), parameter :: twoPi = 6.2831853
  integer :: n, i, k, status
  real(sp), allocatable :: x(:), y(:), z(:), re(:), im(:)
  real(sp) :: kx(samples), ky(samples), kz(samples), weight(samples)
  real(dp) :: worst, angle, sumRe, sumIm
  logical :: mirrored
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 4) then
    print '(a)', 'usage: mriq N, at least 4'
    stop 2
  end if
  allocate (x(n), y(n), z(n), re(n), im(n))
  do i = 1, (n + 1)/2 ! the first is the origin if n is odd; opposite ones are opposite
    x(i) = real(modulo(i*13, 61) - 30, sp)/64
    y(i) = real(modulo(i*29, 53) - 26, sp)/64
    z(i) = real(modulo(i/7, 64), sp)/64
    x(n + 1 - i) = -x(i)
    y(n + 1 - i) = -y(i)
    z(n + 1 - i) = -z(i)
  end do
  if (modulo(n, 2) == 1) then
    x((n + 1)/2) = 0
    y((n + 1)/2) = 0
    z((n + 1)/2) = 0
  end if
  do k = 1, samples
    kx(k) = 4*cos(0.37*k)*k/samples
    ky(k) = 4*sin(0.37*k)*k/samples
    kz(k) = real(modulo(k, 9) - 4, sp)
    weight(k) = (1 + modulo(k*5, 7))**2 + modulo(k, 3)**2 ! a magnitude squared
  end do

  re = 0
  im = 0
  do k = 1, samples
    call add(kx(k), ky(k), kz(k), weight(k), x, y, z, re, im)
  end do

  mirrored = .true.
  do i = 1, n
    mirrored = mirrored .and. re(i) == re(n + 1 - i) .and. im(i) == -im(n + 1 - i)
  end do
  worst = 0
  do i = 1, n, n/3 ! some in double precision
    sumRe = 0
    sumIm = 0
    do k = 1, samples
      angle = 8*atan(1d0)*(real(kx(k), dp)*x(i) + real(ky(k), dp)*y(i) + real(kz(k), dp)*z(i))
      sumRe = sumRe + weight(k)*cos(angle)
      sumIm = sumIm + weight(k)*sin(angle)
    end do
    worst = max(worst, abs(sumRe - re(i)), abs(sumIm - im(i)))
  end do
  worst = worst/sum(weight)
  print '(a,i0,a,es8.1,a,l2)', 'mriq: n ', n, ', error', worst, ', mirrored', mirrored
  if (.not. worst < 1d-5 .or. .not. mirrored) stop 1

contains

  subroutine add(kx, ky, kz, weight, x, y, z, re, im)
    real(sp), intent(in) :: kx, ky, kz, weight, x(:), y(:), z(:)
    real(sp), intent(inout) :: re(:), im(:)
    integer :: i
    real(sp) :: angle

    do i = 1, size(x)
      angle = twoPi*(kx*x(i) + ky*y(i) + kz*z(i))
      re(i) = re(i) + weight*cos(angle)
      im(i) = im(i) + weight*sin(angle)
    end do
  end subroutine
end program
