! Rijndael with a key of 128 bits (the Advanced Encryption Standard): n blocks of four words
! are enciphered in a chain, each with the one before, and deciphered, by tables that join
! the steps of a round. The number of blocks is the argument; they are allocatable.
module cipher
  implicit none
  integer, parameter :: rounds = 10
  integer :: forward(0:255, 0:3), backward(0:255, 0:3) ! tables of rounds, by byte
  integer :: sbox(0:255), inverse(0:255)
  integer :: key(0:4*rounds + 3), unkey(0:4*rounds + 3)

contains

  ! product is that of GF(2^8), modulo x^8 + x^4 + x^3 + x + 1.
  pure integer function product8(a, b)
    integer, intent(in) :: a, b
    integer :: i, power

    product8 = 0
    power = a
    do i = 0, 7
      if (btest(b, i)) product8 = ieor(product8, power)
      power = ishft(power, 1)
      if (btest(power, 8)) power = ieor(power, 283)
    end do
  end function

  pure integer function byte(word, at)
    integer, intent(in) :: word, at ! 0 for the highest

    byte = iand(ishft(word, 8*at - 24), 255)
  end function

  pure integer function word(a, b, c, d)
    integer, intent(in) :: a, b, c, d

    word = ior(ior(ishft(a, 24), ishft(b, 16)), ior(ishft(c, 8), d))
  end function

  subroutine tables()
    integer :: x, y, s, i

    do x = 0, 255
      y = x ! x to the power of 254 is its inverse
      do i = 1, 6
        y = product8(product8(y, y), x)
      end do
      y = product8(y, y)
      s = y
      do i = 1, 4
        s = ieor(s, ishftc(y, i, 8))
      end do
      s = ieor(s, 99)
      sbox(x) = s
      inverse(s) = x
    end do
    do x = 0, 255
      s = sbox(x)
      forward(x, 0) = word(product8(s, 2), s, s, product8(s, 3))
      s = inverse(x)
      backward(x, 0) = word(product8(s, 14), product8(s, 9), product8(s, 13), product8(s, 11))
      do i = 1, 3
        forward(x, i) = ishftc(forward(x, i - 1), -8)
        backward(x, i) = ishftc(backward(x, i - 1), -8)
      end do
    end do
  end subroutine

  pure integer function substituted(w)
    integer, intent(in) :: w

    substituted = word(sbox(byte(w, 0)), sbox(byte(w, 1)), sbox(byte(w, 2)), sbox(byte(w, 3)))
  end function

  subroutine expand(secret)
    integer, intent(in) :: secret(4)
    integer :: i, r, t, power

    key(0:3) = secret
    power = 1
    do i = 4, 4*rounds + 3
      t = key(i - 1)
      if (modulo(i, 4) == 0) then
        t = ieor(substituted(ishftc(t, 8)), ishft(power, 24))
        power = product8(power, 2)
      end if
      key(i) = ieor(key(i - 4), t)
    end do
    do r = 0, rounds
      do i = 0, 3
        t = key(4*(rounds - r) + i)
        if (r > 0 .and. r < rounds) then
          t = substituted(t) ! for the tables, which take the inverse first
          t = ieor(ieor(backward(byte(t, 0), 0), backward(byte(t, 1), 1)), &
            ieor(backward(byte(t, 2), 2), backward(byte(t, 3), 3)))
        end if
        unkey(4*r + i) = t
      end do
    end do
  end subroutine

  ! transform is either way: shift is 1 to encipher and 3 to decipher.
  pure subroutine transform(table, last, k, shift, block)
    integer, intent(in) :: table(0:255, 0:3), last(0:255), k(0:4*rounds + 3), shift
    integer, intent(inout) :: block(0:3)
    integer :: s(0:3), r, i, a, b, c

    s = ieor(block, k(0:3))
    do r = 1, rounds
      do i = 0, 3
        a = s(iand(i + shift, 3))
        b = s(iand(i + 2, 3))
        c = s(iand(i - shift, 3))
        if (r < rounds) then
          block(i) = ieor(ieor(ieor(table(byte(s(i), 0), 0), table(byte(a, 1), 1)), &
            ieor(table(byte(b, 2), 2), table(byte(c, 3), 3))), k(4*r + i))
        else
          block(i) = ieor(word(last(byte(s(i), 0)), last(byte(a, 1)), last(byte(b, 2)), &
            last(byte(c, 3))), k(4*r + i))
        end if
      end do
      s = block
    end do
  end subroutine
end module

program rijndael
  use cipher
  implicit none
  integer :: n, i, status, wrong, sample(0:3), same
  integer, allocatable :: text(:, :), secret(:, :)
  character(32) :: argument

  call get_command_argument(1, argument)
  read (argument, *, iostat=status) n
  if (status /= 0 .or. n < 1) then
    print '(a)', 'usage: rijndael N'
    stop 2
  end if
  call tables()

  ! The standard's own example.
  call expand([word(0, 1, 2, 3), word(4, 5, 6, 7), word(8, 9, 10, 11), word(12, 13, 14, 15)])
  sample = [word(0, 17, 34, 51), word(68, 85, 102, 119), word(136, 153, 170, 187), &
    word(204, 221, 238, 255)]
  call transform(forward, sbox, key, 1, sample)
  wrong = 0
  if (any(sample /= [word(105, 196, 224, 216), word(106, 123, 4, 48), &
    word(216, 205, 183, 128), word(112, 180, 197, 90)])) wrong = 1

  allocate (text(0:3, n), secret(0:3, n))
  do i = 1, n
    text(:, i) = plain(i)
  end do
  sample = [1, 2, 3, 4]
  do i = 1, n
    sample = ieor(sample, text(:, i))
    call transform(forward, sbox, key, 1, sample)
    secret(:, i) = sample
  end do
  text = 0
  do i = n, 1, -1
    sample = secret(:, i)
    call transform(backward, inverse, unkey, 3, sample)
    if (i > 1) then
      text(:, i) = ieor(sample, secret(:, i - 1))
    else
      text(:, i) = ieor(sample, [1, 2, 3, 4])
    end if
  end do
  same = 0 ! blocks that follow one like them
  do i = 1, n
    if (any(text(:, i) /= plain(i))) wrong = wrong + 1
    if (i > 1) then
      if (all(secret(:, i) == secret(:, i - 1))) same = same + 1
    end if
  end do
  print '(a,i0,a,z8.8,a,i0)', 'rijndael: n ', n, ', last ', secret(3, n), ', wrong ', wrong
  if (wrong /= 0 .or. same /= 0) stop 1

contains

  pure function plain(i)
    integer, intent(in) :: i
    integer :: plain(0:3)

    plain = [i/4, 7*(i/4), 1000, modulo(i/4, 100)]
  end function
end program
