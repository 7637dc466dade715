! Quicksort of n points in space, the argument, by their distance from the origin: as in a
! library, how two records compare is left to a function that is handed over. They are
! partitioned around the median of three, and few are sorted by insertion. The points are an
! allocatable array of a derived type.
module sorting
  implicit none
  integer, parameter :: dp = kind(1d0), few = 8

  type point
    integer :: x, y, z, id
    real(dp) :: distance
  end type

  abstract interface
    logical function before(a, b)
      import point
      type(point), intent(in) :: a, b
    end function
  end interface

contains

  logical function nearer(a, b)
    type(point), intent(in) :: a, b

    nearer = a%distance < b%distance
  end function

  recursive subroutine quicksort(p, less)
    type(point), intent(inout) :: p(:)
    procedure(before) :: less
    integer :: middle

    if (size(p) <= few) then
      call insertion(p, less)
      return
    end if
    middle = partition(p, less)
    call quicksort(p(:middle), less)
    call quicksort(p(middle + 1:), less)
  end subroutine

  ! partition returns up to where nothing is greater than anything behind.
  integer function partition(p, less)
    type(point), intent(inout) :: p(:)
    procedure(before) :: less
    type(point) :: pivot
    integer :: i, j

    pivot = median(p(1), p((1 + size(p))/2), p(size(p)), less)
    i = 0
    j = size(p) + 1
    do
      i = i + 1
      do while (less(p(i), pivot))
        i = i + 1
      end do
      j = j - 1
      do while (less(pivot, p(j)))
        j = j - 1
      end do
      if (i >= j) exit
      call swap(p(i), p(j))
    end do
    partition = min(j, size(p) - 1)
  end function

  type(point) function median(a, b, c, less)
    type(point), intent(in) :: a, b, c
    procedure(before) :: less

    if (less(a, b) .eqv. less(b, c)) then
      median = b
    else if (less(a, b) .eqv. less(a, c)) then
      median = c
    else
      median = a
    end if
  end function

  subroutine swap(a, b)
    type(point), intent(inout) :: a, b
    type(point) :: c

    c = a
    a = b
    b = c
  end subroutine

  subroutine insertion(p, less)
    type(point), intent(inout) :: p(:)
    procedure(before) :: less
    type(point) :: moved
    integer :: i, j

    do i = 2, size(p)
      moved = p(i)
      j = i
      do while (j > 1)
        if (.not. less(moved, p(j - 1))) exit
        p(j) = p(j - 1)
        j = j - 1
      end do
      p(j) = moved
    end do
  end subroutine
end module

program points
  use sorting
  implicit none
  integer, parameter :: long = 8, side = 1000
  type(point), allocatable :: p(:)
  integer(long) :: seed
  integer :: n, i, status, wrong
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 1 .or. n > 10000000) then
    print '(a)', 'usage: qsort N'
    stop 2
  end if
  allocate (p(n))
  seed = 5
  do i = 1, n
    p(i) = point(coordinate(), coordinate(), coordinate(), i, 0)
    p(i)%distance = sqrt(real(p(i)%x, dp)**2 + real(p(i)%y, dp)**2 + real(p(i)%z, dp)**2)
  end do
  call quicksort(p, nearer)
  ! They ascend, and are the same points as before once they are back in order.
  wrong = 0
  do i = 2, n
    if (.not. p(i - 1)%distance <= p(i)%distance) wrong = wrong + 1
  end do
  print '(a,i0,2(a,f0.6))', 'qsort: n ', n, ', nearest ', p(1)%distance, ', median ', &
    p((n + 1)/2)%distance
  call back()
  seed = 5
  do i = 1, n
    if (p(i)%id /= i) wrong = wrong + 1
    if (p(i)%x /= coordinate()) wrong = wrong + 1
    if (p(i)%y /= coordinate()) wrong = wrong + 1
    if (p(i)%z /= coordinate()) wrong = wrong + 1
    if (nint(p(i)%distance**2, long) /= squares(p(i))) wrong = wrong + 1
  end do
  if (wrong /= 0) then
    print '(a,i0)', 'wrong ', wrong
    stop 1
  end if

contains

  integer function coordinate()
    seed = iand(seed*1103515245_long + 12345, 2147483647_long)
    coordinate = int(ishft(seed*(2*side + 1), -31)) - side
  end function

  integer(long) function squares(a)
    type(point), intent(in) :: a

    squares = int(a%x, long)**2 + int(a%y, long)**2 + int(a%z, long)**2
  end function

  ! back puts each point where its number says, by exchanges.
  subroutine back()
    integer :: i, k

    do i = 1, n
      do
        k = p(i)%id
        if (k < 1 .or. k > n .or. k == i) exit
        if (p(k)%id == k) exit
        call swap(p(i), p(k))
      end do
    end do
  end subroutine
end program
