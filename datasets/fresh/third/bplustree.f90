! A tree of sorted nodes of up to 15 keys, with all records at its leaves, which are chained:
! n keys, the argument, are put in at random, and then searched for, as are keys that are not
! there and ranges of keys. Nodes are an allocatable array of a derived type.
module tree
  implicit none
  integer, parameter :: most = 16 ! with so many keys, a node is split

  type node
    logical :: leaf
    integer :: count, next
    integer :: key(most), link(most + 1)
  end type

  type(node), allocatable :: nodes(:)
  integer :: used, root

contains

  subroutine start(n)
    integer, intent(in) :: n

    allocate (nodes(n/6 + 64)) ! a node that was split has at least seven keys
    used = 0
    root = fresh(.true.)
  end subroutine

  integer function fresh(leaf)
    logical, intent(in) :: leaf

    used = used + 1
    nodes(used)%leaf = leaf
    nodes(used)%count = 0
    nodes(used)%next = 0
    fresh = used
  end function

  ! place returns how many keys of a node are not greater than the key.
  integer function place(at, key)
    integer, intent(in) :: at, key
    integer :: i

    do i = 1, nodes(at)%count
      if (nodes(at)%key(i) > key) exit
    end do
    place = i - 1
  end function

  subroutine put(key, record)
    integer, intent(in) :: key, record
    integer :: up, right, old

    call insert(root, key, record, up, right)
    if (right == 0) return
    old = root
    root = fresh(.false.)
    nodes(root)%count = 1
    nodes(root)%key(1) = up
    nodes(root)%link(1:2) = [old, right]
  end subroutine

  ! insert puts a key below a node. If the node was split, right is the new one, and up the
  ! key that parts them.
  recursive subroutine insert(at, key, record, up, right)
    integer, intent(in) :: at, key, record
    integer, intent(out) :: up, right
    integer :: i, below, beside

    i = place(at, key)
    right = 0
    if (nodes(at)%leaf) then
      call shift(at, i + 1, key, i + 1, record)
    else
      call insert(nodes(at)%link(i + 1), key, record, below, beside)
      if (beside == 0) return
      call shift(at, i + 1, below, i + 2, beside)
    end if
    if (nodes(at)%count == most) call split(at, up, right)
  end subroutine

  ! shift makes room for a key and a link in a node, and puts them there.
  subroutine shift(at, i, key, l, link)
    integer, intent(in) :: at, i, key, l, link
    integer :: k

    associate (p => nodes(at))
      do k = p%count, i, -1
        p%key(k + 1) = p%key(k)
      end do
      do k = p%count + (l - i), l, -1
        p%link(k + 1) = p%link(k)
      end do
      p%key(i) = key
      p%link(l) = link
      p%count = p%count + 1
    end associate
  end subroutine

  ! split takes the upper half away. A leaf keeps all keys; of another, the middle goes up.
  subroutine split(at, up, right)
    integer, intent(in) :: at
    integer, intent(out) :: up, right
    integer, parameter :: half = most/2

    right = fresh(nodes(at)%leaf)
    associate (p => nodes(at), q => nodes(right))
      up = p%key(half + 1)
      if (p%leaf) then
        q%count = most - half
        q%key(1:q%count) = p%key(half + 1:most)
        q%link(1:q%count) = p%link(half + 1:most)
        q%next = p%next
        p%next = right
      else
        q%count = most - half - 1
        q%key(1:q%count) = p%key(half + 2:most)
        q%link(1:q%count + 1) = p%link(half + 2:most + 1)
      end if
      p%count = half
    end associate
  end subroutine

  ! leaf_of returns the leaf where a key belongs.
  integer function leaf_of(key)
    integer, intent(in) :: key

    leaf_of = root
    do while (.not. nodes(leaf_of)%leaf)
      leaf_of = nodes(leaf_of)%link(place(leaf_of, key) + 1)
    end do
  end function

  ! find returns the record of a key, or 0.
  integer function find(key)
    integer, intent(in) :: key
    integer :: at, i

    at = leaf_of(key)
    i = place(at, key)
    find = 0
    if (i > 0) then
      if (nodes(at)%key(i) == key) find = nodes(at)%link(i)
    end if
  end function

  ! spanned returns how many keys lie from one to another, and adds up their records.
  integer function spanned(first, last, records, sum)
    integer, intent(in) :: first, last, records(:)
    integer(8), intent(out) :: sum
    integer :: at, i

    spanned = 0
    sum = 0
    at = leaf_of(first)
    i = place(at, first - 1) + 1
    do
      if (i > nodes(at)%count) then
        at = nodes(at)%next
        if (at == 0) return
        i = 1
      end if
      if (nodes(at)%key(i) > last) return
      spanned = spanned + 1
      sum = sum + records(nodes(at)%link(i))
      i = i + 1
    end do
  end function
end module

program bplustree
  use tree
  implicit none
  integer, parameter :: long = 8, wide = 100
  integer, allocatable :: order(:), records(:)
  integer(long) :: seed, sum, expected
  integer :: n, i, j, k, first, last, status, wrong, found
  character(32) :: text

  call get_command_argument(1, text)
  read (text, *, iostat=status) n
  if (status /= 0 .or. n < 1 .or. n > 100000000) then
    print '(a)', 'usage: bplustree N'
    stop 2
  end if
  ! Keys are multiples of 3, in any order; a record holds four times its key, less one.
  allocate (order(n), records(n))
  seed = 21
  do i = 1, n
    order(i) = i
  end do
  do i = n, 2, -1
    j = 1 + draw(i)
    k = order(i)
    order(i) = order(j)
    order(j) = k
  end do
  call start(n)
  do i = 1, n
    records(i) = 12*order(i) - 1
    call put(3*order(i), i)
  end do

  wrong = 0
  found = 0
  do i = 1, n
    k = 1 + draw(3*n + 2)
    j = find(k)
    if (j > 0) then
      if (records(j) /= 4*k - 1) wrong = wrong + 1
      found = found + 1
    end if
    if ((j > 0) .neqv. (modulo(k, 3) == 0 .and. k <= 3*n)) wrong = wrong + 1
    k = find(3*order(i))
    if (k /= i) wrong = wrong + 1
  end do
  do i = 1, n/16
    first = 1 + draw(3*n)
    last = first + draw(wide)
    k = spanned(first, last, records, sum)
    j = (first + 2)/3
    last = min(n, last/3)
    expected = last - j + 1
    if (k /= max(0_long, expected)) wrong = wrong + 1
    if (sum /= expected*(6*(int(j, long) + last) - 1)) wrong = wrong + 1
  end do
  ! All of them, by the chain of leaves.
  if (spanned(1, 3*n, records, sum) /= n) wrong = wrong + 1
  if (sum /= int(n, long)*(6*(1 + int(n, long)) - 1)) wrong = wrong + 1
  print '(a,i0,3(a,i0))', 'bplustree: n ', n, ', nodes ', used, ', found ', found, &
    ', wrong ', wrong
  if (wrong /= 0) stop 1

contains

  integer function draw(below)
    integer, intent(in) :: below

    seed = iand(seed*1103515245_long + 12345, 2147483647_long)
    draw = int(ishft(seed*below, -31))
  end function
end program
