! alternating directions: tridiagonal solves along x, y and z of n**3 with 5 fields
program adi
  implicit none
  integer :: n, it
  real(8), allocatable :: u(:,:,:,:), rhs(:,:,:,:), cp(:)
  character(16) :: a
  call get_command_argument(1, a); read(a,*) n
  allocate(u(5,n,n,n), rhs(5,n,n,n), cp(n))
  call start()
  do it = 1, 2
     call force(); call xs(); call ys(); call zs(); u = u + rhs
  end do
  print *, maxval(abs(u))
contains
  subroutine start()
    integer :: i,j,k
    do k=1,n
      do j=1,n
        do i=1,n
          u(:,i,j,k) = (/1d0, dble(i)/n, dble(j)/n, dble(k)/n, 2d0/)
        end do
      end do
    end do
  end subroutine
  subroutine force()
    integer :: i,j,k
    rhs = 0
    do k=2,n-1
      do j=2,n-1
        do i=2,n-1
          rhs(:,i,j,k) = 0.01d0*(u(:,i-1,j,k)+u(:,i+1,j,k)+u(:,i,j-1,k)+u(:,i,j+1,k)+u(:,i,j,k-1)+u(:,i,j,k+1)-6*u(:,i,j,k))
        end do
      end do
    end do
  end subroutine
  subroutine xs()
    integer :: i,j,k
    do k=1,n
      do j=1,n
        cp(1)=-0.2d0
        do i=2,n
          cp(i)=-0.2d0/(1.4d0+0.2d0*cp(i-1)); rhs(:,i,j,k)=(rhs(:,i,j,k)+0.2d0*rhs(:,i-1,j,k))*(-5*cp(i))
        end do
        do i=n-1,1,-1
          rhs(:,i,j,k)=rhs(:,i,j,k)-cp(i)*rhs(:,i+1,j,k)
        end do
      end do
    end do
  end subroutine
  subroutine ys()
    integer :: i,j,k
    do k=1,n
      do i=1,n
        cp(1)=-0.2d0
        do j=2,n
          cp(j)=-0.2d0/(1.4d0+0.2d0*cp(j-1)); rhs(:,i,j,k)=(rhs(:,i,j,k)+0.2d0*rhs(:,i,j-1,k))*(-5*cp(j))
        end do
        do j=n-1,1,-1
          rhs(:,i,j,k)=rhs(:,i,j,k)-cp(j)*rhs(:,i,j+1,k)
        end do
      end do
    end do
  end subroutine
  subroutine zs()
    integer :: i,j,k
    do j=1,n
      do i=1,n
        cp(1)=-0.2d0
        do k=2,n
          cp(k)=-0.2d0/(1.4d0+0.2d0*cp(k-1)); rhs(:,i,j,k)=(rhs(:,i,j,k)+0.2d0*rhs(:,i,j,k-1))*(-5*cp(k))
        end do
        do k=n-1,1,-1
          rhs(:,i,j,k)=rhs(:,i,j,k)-cp(k)*rhs(:,i,j,k+1)
        end do
      end do
    end do
  end subroutine
end program
