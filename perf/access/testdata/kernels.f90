! Loops over Fortran's arrays: explicit and assumed shape, sections with strides,
! allocatable arrays of a module.
module kernels
  implicit none
  integer, parameter :: dp = kind(1d0)
  real(dp), allocatable :: w(:,:)
contains
  subroutine multiply(a, b, c, n)
    integer, intent(in) :: n
    real(dp) :: a(n,n), b(n,n), c(n,n)
    integer :: i, j, k
    do j = 1, n
      do i = 1, n
        c(i,j) = 0
        do k = 1, n
          c(i,j) = c(i,j) + a(i,k)*b(k,j)
        end do
      end do
    end do
  end subroutine

  subroutine assumed(a, b)
    real(dp) :: a(:,:), b(:,:)
    integer :: i, j
    do j = 2, size(a,2)-1
      do i = 2, size(a,1)-1
        b(i,j) = a(i,j) + a(i-1,j) + a(i+1,j) + a(i,j-1) + a(i,j+1)
      end do
    end do
  end subroutine

  subroutine steps(a)
    real(dp) :: a(:,:)
    integer :: i, j
    do i = 1, size(a,1), 2
      do j = size(a,2), 1, -1
        a(i,j) = a(i,j)*2
      end do
    end do
  end subroutine

  subroutine cube(u, v, n)
    integer, intent(in) :: n
    real(dp) :: u(n,n,n), v(n,n,n)
    integer :: i, j, k
    do k = 2, n-1
      do j = 2, n-1
        do i = 2, n-1
          v(i,j,k) = u(i-1,j,k) + u(i+1,j,k) + u(i,j-1,k) + u(i,j+1,k) + u(i,j,k-1) + u(i,j,k+1)
        end do
      end do
    end do
  end subroutine

  subroutine ofmodule(n)
    integer, intent(in) :: n
    integer :: i, j
    do j = 1, n
      do i = 1, n
        w(i,j) = w(j,i) + i
      end do
    end do
  end subroutine

  subroutine triangle(a, n)
    integer, intent(in) :: n
    real(dp) :: a(n,n)
    integer :: i, j
    do j = 1, n
      do i = 1, j
        a(i,j) = a(i,j) + 1
      end do
    end do
  end subroutine
end module

program main
  use kernels
  integer :: n
  real(dp), allocatable :: a(:,:), b(:,:), c(:,:), u(:,:,:), v(:,:,:)
  n = 20 + 4*command_argument_count()
  allocate(a(n,n), b(n,n), c(n,n), u(n,n,n), v(n,n,n), w(n,n))
  a = 1; b = 2; c = 0; u = 3; v = 0; w = 5
  call multiply(a, b, c, n)
  call assumed(a, b)
  call assumed(a(1:n:2,:), b(1:n:2,:))
  call steps(a)
  call steps(b(2:n:3,1:n:2))
  call cube(u, v, n)
  call ofmodule(n)
  call triangle(a, n)
  print *, sum(a), sum(b), sum(v), sum(w), c(3,3)
end program
