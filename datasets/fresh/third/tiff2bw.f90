! A colour picture of n x n pixels, the argument, to grey: 28, 59 and 11 percent of red, green
! and blue, line by line through buffers, from a palette of 256 colours, from pixels of three
! bytes and from three planes. All three hold the same picture. All are allocatable arrays
! of bytes.
module grey
  implicit none
  integer, parameter :: byte = 1
  integer, parameter :: red = 28*256/100, green = 59*256/100, blue = 11*256/100

contains

  pure integer function unsigned(b)
    integer(byte), intent(in) :: b

    unsigned = iand(int(b), 255)
  end function

  pure integer(byte) function signed(i)
    integer, intent(in) :: i

    signed = int(i - ishft(iand(i, 128), 1), byte)
  end function

  subroutine from_palette(line, palette, out)
    integer(byte), intent(in) :: line(:)
    integer, intent(in) :: palette(3, 0:255)
    integer(byte), intent(out) :: out(:)
    integer(byte) :: table(0:255)
    integer :: i

    do i = 0, 255
      table(i) = signed((red*palette(1, i) + green*palette(2, i) + blue*palette(3, i))/256)
    end do
    do i = 1, size(line)
      out(i) = table(unsigned(line(i)))
    end do
  end subroutine

  subroutine from_pixels(line, out)
    integer(byte), intent(in) :: line(:, :)
    integer(byte), intent(out) :: out(:)
    integer :: i

    do i = 1, size(out)
      out(i) = signed((red*unsigned(line(1, i)) + green*unsigned(line(2, i)) &
        + blue*unsigned(line(3, i)))/256)
    end do
  end subroutine

  subroutine from_planes(r, g, b, out)
    integer(byte), intent(in) :: r(:), g(:), b(:)
    integer(byte), intent(out) :: out(:)
    integer :: i

    do i = 1, size(out)
      out(i) = signed((red*unsigned(r(i)) + green*unsigned(g(i)) + blue*unsigned(b(i)))/256)
    end do
  end subroutine
end module

program tiff2bw
  use grey
  implicit none
  integer(byte), allocatable :: indices(:, :), pixels(:, :, :), planes(:, :, :), out(:, :, :)
  integer(byte), allocatable :: line(:), triples(:, :), lines(:, :), done(:)
  integer :: palette(3, 0:255)
  integer :: n, i, j, c, status, wrong
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 1 .or. n > 16384) then
    print '(a)', 'usage: tiff2bw N'
    stop 2
  end if
  allocate (indices(n, n), pixels(3, n, n), planes(n, n, 3), out(n, n, 3))
  allocate (line(n), triples(3, n), lines(n, 3), done(n))
  call make()

  do j = 1, n
    line = indices(:, j)
    call from_palette(line, palette, done)
    out(:, j, 1) = done
  end do
  do j = 1, n
    triples = pixels(:, :, j)
    call from_pixels(triples, done)
    out(:, j, 2) = done
  end do
  do j = 1, n
    lines = planes(:, j, :)
    call from_planes(lines(:, 1), lines(:, 2), lines(:, 3), done)
    out(:, j, 3) = done
  end do

  ! All agree, and what is left of a grey is less than one, in every seventh line.
  wrong = 0
  do j = 1, n
    if (any(out(:, j, 1) /= out(:, j, 2))) wrong = wrong + 1
    if (any(out(:, j, 1) /= out(:, j, 3))) wrong = wrong + 1
  end do
  do j = n, 1, -7
    do i = 1, n
      c = modulo(colour(i, j), 256)
      c = 71*entry(1, c) + 151*entry(2, c) + 28*entry(3, c) - 256*unsigned(out(i, j, 2))
      if (c < 0 .or. c > 255) wrong = wrong + 1
    end do
  end do
  print '(a,i0,a,i0,a,i0)', 'tiff2bw: n ', n, ', last ', unsigned(out(n, n, 1)), ', wrong ', &
    wrong
  if (wrong /= 0) stop 1

contains

  ! entry is a component of the palette.
  integer function entry(component, c)
    integer, intent(in) :: component, c

    entry = modulo(c*(2*component + 5)*(component + 1) + 40*component, 256)
  end function

  integer function colour(i, j)
    integer, intent(in) :: i, j

    colour = i*i/64 + j*3 + iand(i*j, 31)
  end function

  subroutine make()
    integer :: i, j, c

    do c = 0, 255
      palette(:, c) = [entry(1, c), entry(2, c), entry(3, c)]
    end do
    do j = 1, n
      do i = 1, n
        c = iand(colour(i, j), 255)
        indices(i, j) = signed(c)
        pixels(1, i, j) = signed(palette(1, c))
        pixels(2, i, j) = signed(palette(2, c))
        pixels(3, i, j) = signed(palette(3, c))
      end do
    end do
    do c = 1, 3
      do j = 1, n
        do i = 1, n
          planes(i, j, c) = pixels(c, i, j)
        end do
      end do
    end do
  end subroutine
end program
