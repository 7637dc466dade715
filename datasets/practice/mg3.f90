! V cycles for Poisson's equation on n**3 cells (n even), recursive arrays by level, Gauss-Seidel in red and black
program mg3
  implicit none
  type grid
     real(8), allocatable :: u(:,:,:), f(:,:,:), r(:,:,:)
  end type
  type(grid) :: g(12)
  integer :: n, m, levels, l, it
  character(16) :: a
  call get_command_argument(1, a); read(a,*) n
  m = n; levels = 0
  do
     levels = levels + 1
     allocate(g(levels)%u(0:m+1,0:m+1,0:m+1), g(levels)%f(0:m+1,0:m+1,0:m+1), g(levels)%r(0:m+1,0:m+1,0:m+1))
     g(levels)%u = 0; g(levels)%f = 0; g(levels)%r = 0
     if (mod(m,2) /= 0 .or. m <= 3) exit
     m = m/2
  end do
  g(1)%f(n/2,n/2,n/2) = 1
  do it = 1, 2
     do l = 1, levels-1
        call smooth(g(l), 2); call residual(g(l)); call restrict(g(l), g(l+1))
     end do
     call smooth(g(levels), 8)
     do l = levels-1, 1, -1
        call prolong(g(l+1), g(l)); call smooth(g(l), 2)
     end do
  end do
  print *, sum(g(1)%u)
contains
  subroutine smooth(x, times)
    type(grid), intent(inout) :: x
    integer, intent(in) :: times
    integer :: i, j, k, c, t, m
    m = ubound(x%u,1)-1
    do t = 1, times
       do c = 0, 1
          do k = 1, m
             do j = 1, m
                do i = 1+mod(j+k+c,2), m, 2
                   x%u(i,j,k) = (x%u(i-1,j,k)+x%u(i+1,j,k)+x%u(i,j-1,k)+x%u(i,j+1,k)+x%u(i,j,k-1)+x%u(i,j,k+1)+x%f(i,j,k))/6
                end do
             end do
          end do
       end do
    end do
  end subroutine
  subroutine residual(x)
    type(grid), intent(inout) :: x
    integer :: i, j, k, m
    m = ubound(x%u,1)-1
    do k = 1, m
       do j = 1, m
          do i = 1, m
             x%r(i,j,k) = x%f(i,j,k)-6*x%u(i,j,k)+x%u(i-1,j,k)+x%u(i+1,j,k)+x%u(i,j-1,k)+x%u(i,j+1,k)+x%u(i,j,k-1)+x%u(i,j,k+1)
          end do
       end do
    end do
  end subroutine
  subroutine restrict(x, y)
    type(grid), intent(in) :: x
    type(grid), intent(inout) :: y
    integer :: i, j, k, m
    m = ubound(y%u,1)-1
    y%u = 0
    do k = 1, m
       do j = 1, m
          do i = 1, m
             y%f(i,j,k) = sum(x%r(2*i-1:2*i,2*j-1:2*j,2*k-1:2*k))/2
          end do
       end do
    end do
  end subroutine
  subroutine prolong(y, x)
    type(grid), intent(in) :: y
    type(grid), intent(inout) :: x
    integer :: i, j, k, m
    m = ubound(x%u,1)-1
    do k = 1, m
       do j = 1, m
          do i = 1, m
             x%u(i,j,k) = x%u(i,j,k)+y%u((i+1)/2,(j+1)/2,(k+1)/2)
          end do
       end do
    end do
  end subroutine
end program
