#!/usr/bin/perl
# Gives up system calls and then becomes another program; seccomp.ts makes the filter and starts it.
#
#   seccomp.pl PRCTL_NUMBER FILTER_HEX COMMAND [ARGUMENT...]
#
# Perl is the one program that nearly every Linux has and that can make any system call.
use strict;
use warnings;

my ($prctl, $hex, @command) = @ARGV;
my $program = pack 'H*', $hex;
my $filter = pack 'S x6 P', length($program) / 8, $program;
# PR_SET_NO_NEW_PRIVS, without which only root may filter; PR_SET_SECCOMP, SECCOMP_MODE_FILTER.
syscall(int $prctl, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!\n";
syscall(int $prctl, 22, 2, $filter) == 0 or die "seccomp: $!\n";
exec { $command[0] } @command or die "exec: $!\n";
