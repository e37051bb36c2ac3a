! SPDX-License-Identifier: GPL-2.0-or-later
! libperfex from Fortran: the modern calls through iso_c_binding, then the classic ones by their Fortran names.
!
!     count-f [EVENT]         as for `perfex -e`; default: page-faults
module perfex
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), parameter :: perfex_thread = 0, perfex_process = 1
  integer(c_int), parameter :: perfex_none = 0

  type, bind(c) :: perfex_value
    real(c_double) :: value, low, high
    integer(c_int) :: label
    character(kind=c_char) :: why(160)
  end type

  type, bind(c) :: perfex_error
    integer(c_int) :: code, errnum
    character(kind=c_char) :: message(512), hint(512)
  end type

  interface
    function perfex_open(scope, error) bind(c)
      import
      integer(c_int), value :: scope
      type(perfex_error), intent(out) :: error
      type(c_ptr) :: perfex_open
    end function
    function perfex_add(handle, event, error) bind(c)
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: event(*)
      type(perfex_error), intent(out) :: error
      integer(c_int) :: perfex_add
    end function
    function perfex_start(handle, error) bind(c)
      import
      type(c_ptr), value :: handle
      type(perfex_error), intent(out) :: error
      integer(c_int) :: perfex_start
    end function
    function perfex_read(handle, values, count, error) bind(c)
      import
      type(c_ptr), value :: handle
      type(perfex_value), intent(out) :: values(*)
      integer(c_int), value :: count
      type(perfex_error), intent(out) :: error
      integer(c_int) :: perfex_read
    end function
    function perfex_stop(handle, error) bind(c)
      import
      type(c_ptr), value :: handle
      type(perfex_error), intent(out) :: error
      integer(c_int) :: perfex_stop
    end function
    subroutine perfex_close(handle) bind(c)
      import
      type(c_ptr), value :: handle
    end subroutine
    function perfex_label_name(label) bind(c)
      import
      integer(c_int), value :: label
      type(c_ptr) :: perfex_label_name
    end function
    function c_strlen(string) bind(c, name='strlen')
      import
      type(c_ptr), value :: string
      integer(c_size_t) :: c_strlen
    end function
  end interface

contains

  ! A C string that the library owns, as a Fortran one.
  function text(string)
    type(c_ptr), intent(in) :: string
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: at(:)
    integer :: i

    call c_f_pointer(string, at, [c_strlen(string)])
    allocate (character(len=size(at)) :: text)
    do i = 1, size(at)
      text(i:i) = at(i)
    end do
  end function

  subroutine fail(error)
    type(perfex_error), intent(in) :: error
    character(len=512) :: message, hint
    integer :: i

    message = ' '
    hint = ' '
    do i = 1, 512
      if (error%message(i) == c_null_char) exit
      message(i:i) = error%message(i)
    end do
    do i = 1, 512
      if (error%hint(i) == c_null_char) exit
      hint(i:i) = error%hint(i)
    end do
    write (0, '(2a)') 'count-f: ', trim(message)
    if (hint /= ' ') write (0, '(2a)') 'count-f: ', trim(hint)
    stop 1
  end subroutine
end module

program count_f
  use perfex
  implicit none
  integer, parameter :: n = 2**19
  integer, external :: start_counters, read_counters, print_counters
  type(c_ptr) :: handle
  type(perfex_error) :: error
  type(perfex_value) :: value(1)
  character(len=100) :: event
  real(c_double), allocatable :: x(:)
  integer(c_long_long) :: c0, c1

  event = 'page-faults'
  if (command_argument_count() > 0) call get_command_argument(1, event)

  handle = perfex_open(perfex_thread, error)
  if (.not. c_associated(handle)) call fail(error)
  if (perfex_add(handle, trim(event)//c_null_char, error) < 0) call fail(error)
  if (perfex_start(handle, error) < 0) call fail(error)
  allocate (x(n))
  x = 1
  if (perfex_stop(handle, error) < 0) call fail(error)
  if (perfex_read(handle, value, 1, error) < 0) call fail(error)
  if (value(1)%label == perfex_none) then
    print '(3a)', trim(event), ' ', 'not counted'
  else
    print '(2a,f0.0,2a)', trim(event), ' ', value(1)%value, ' ', text(perfex_label_name(value(1)%label))
  end if
  call perfex_close(handle)

  ! The classic calls: 17 graduated instructions and 25 primary data cache misses; where nothing counts these, the
  ! processor time and the page faults of the thread.
  if (start_counters(17, 25) > 0) then
    x = x + 1
    if (read_counters(17, c0, 25, c1) < 0) stop 2
    if (print_counters(17, c0, 25, c1) < 0) stop 2
  else
    if (start_counters(69, 65) < 0) stop 2
    x = x + 1
    if (read_counters(69, c0, 65, c1) < 0) stop 2
    if (print_counters(69, c0, 65, c1) < 0) stop 2
  end if
  print '(a,f0.0)', 'sum ', sum(x)
end program
