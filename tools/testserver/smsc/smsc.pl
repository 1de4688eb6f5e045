#!/usr/bin/perl
# A message centre for tests, on the SMPP of Debian's libnet-smpp-perl: takes binds and messages, and
# reports on them. What it does with a message is said by the number that it goes to:
#
#   ...666     refused: ESME_RINVDSTADR
#   ...777     throttled the first two times that a part comes, then taken
#   ...778     as 777, with a full queue
#   ...555     fails once (ESME_RSYSERR), then taken
#   ...444     taken; the connection is cut instead of an answer, the first time
#   ...999     taken; its report waits until the file `release` is there
#   ...888     taken; reported by the options of the protocol, as undeliverable
#   ...000     taken, and never reported
#   others     taken, and reported as delivered by a text
#
# Usage: smsc.pl HOST PORT JOURNAL RELEASE; the journal gets a line of JSON for each thing that happens.
use strict;
use warnings;
use IO::Select;
use JSON::PP;
use Net::SMPP;

my ($host, $port, $journal_path, $release) = @ARGV;
open(my $journal, '>>', $journal_path) or die "$journal_path: $!";
$journal->autoflush(1);
my $json = JSON::PP->new->canonical;
sub note { print $journal $json->encode({@_}), "\n" }

$SIG{PIPE} = 'IGNORE';
$SIG{__WARN__} = sub { };    # of ends of connections
my $listener = Net::SMPP->new_listen($host, port => $port, smpp_version => 0x34)
  or die "cannot listen on $host:$port: $!";
my $select  = IO::Select->new($listener);
my $last_id = int(time() * 1000) % 1_000_000_000;    # another life has other names
my %seen;       # parts by their bytes: how often they came
my %bound;      # connections by their number
my @waiting;    # reports that wait for the file

sub report {
    my ($id, $message, %options) = @_;
    my ($client) = grep { defined } values %bound;
    if (!$client) { push @waiting, [$id, $message, %options]; return }
    my $stat = $options{stat} || 'DELIVRD';
    my %form = $options{bare}
      ? (short_message => '', receipted_message_id => "$id\0", message_state => chr(5))
      : (short_message => "id:$id sub:001 dlvrd:001 submit date:2611161200 done date:2611161201 "
          . "stat:$stat err:000 text:" . substr($message->{short_message}, 0, 20));
    $client->deliver_sm(async => 1, source_addr => $message->{destination_addr},
        destination_addr => $message->{source_addr}, esm_class => 0x04, %form);
}

sub take {
    my ($client, $message) = @_;
    my $to  = $message->{destination_addr};
    my $key = join '|', $to, $message->{esm_class}, $message->{short_message};
    my $count = ++$seen{$key};
    my $status = 0;
    $status = 0x0B if $to =~ /666$/;
    $status = 0x58 if $to =~ /777$/ && $count <= 2;
    $status = 0x14 if $to =~ /778$/ && $count <= 2;
    $status = 0x08 if $to =~ /555$/ && $count <= 1;
    my $id = sprintf '%x', ++$last_id;
    note(event => 'submit', to => $to, ton => $message->{dest_addr_ton}, npi => $message->{dest_addr_npi},
        source => $message->{source_addr}, source_ton => $message->{source_addr_ton},
        esm_class => $message->{esm_class}, coding => $message->{data_coding},
        registered => $message->{registered_delivery}, text => unpack('H*', $message->{short_message}),
        status => $status, id => $id);
    if ($to =~ /444$/ && $count == 1) { return 0 }
    if ($status) { $client->submit_sm_resp(seq => $message->{seq}, status => $status, message_id => ''); return 1 }
    $client->submit_sm_resp(seq => $message->{seq}, message_id => $id);
    return 1 if $to =~ /000$/ || !$message->{registered_delivery};
    if    ($to =~ /999$/) { push @waiting, [$id, $message] }
    elsif ($to =~ /888$/) { report($id, $message, bare => 1) }
    else                  { report($id, $message) }
    return 1;
}

sub drop {
    my ($client) = @_;
    delete $bound{fileno $client};
    $select->remove($client);
    close $client;
}

while (1) {
    for my $ready ($select->can_read(0.05)) {
        if ($ready == $listener) {
            my $client = $listener->accept or next;
            $select->add($client);
            next;
        }
        my $pdu = $ready->read_pdu;
        if (!$pdu) { drop($ready); next }
        my $cmd = $pdu->explain_cmd;
        if ($cmd eq 'bind_transceiver') {
            my $good = $pdu->{password} eq 'secret';
            note(event => 'bind', system_id => $pdu->{system_id}, system_type => $pdu->{system_type},
                version => $pdu->{interface_version}, good => $good ? 1 : 0);
            $ready->bind_transceiver_resp(seq => $pdu->{seq}, status => $good ? 0 : 0x0E, system_id => 'smsc');
            $bound{fileno $ready} = $ready if $good;
        } elsif ($cmd eq 'submit_sm') {
            drop($ready) if !take($ready, $pdu);
        } elsif ($cmd eq 'deliver_sm_resp') {
            note(event => 'report_answered', status => $pdu->{status});
        } elsif ($cmd eq 'enquire_link') {
            note(event => 'enquire_link');
            $ready->enquire_link_resp(seq => $pdu->{seq});
        } elsif ($cmd eq 'unbind') {
            note(event => 'unbind');
            $ready->unbind_resp(seq => $pdu->{seq});
            drop($ready);
        } elsif (!($pdu->{cmd} & 0x80000000)) {
            $ready->generic_nack(seq => $pdu->{seq}, status => 0x03);
        }
    }
    if (@waiting && %bound && -e $release) {
        report(@$_) for splice @waiting;
    }
}
