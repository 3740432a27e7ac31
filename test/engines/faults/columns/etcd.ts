import type { Column } from '../support/faults.ts';

export const etcd = {
  store: 'etcd (red log)',
  page: 'operate/red-log-on-etcd.md',
  cells: {
    killed: {
      meanwhile:
        'Each site uses another server. If the leader was killed, red operations wait for one or two seconds. Without a majority they wait, with the alarm `red-log-unreachable`. Blue operations go on',
      recovery: 'Within a second after a majority serves',
    },
    frozen: {
      meanwhile:
        'A site that gets no reply moves to another server. Without another server, red operations wait',
      recovery: 'As soon as a server answers',
    },
    cut: {
      meanwhile: 'Red operations of the site wait',
      recovery: 'The site gives the silent connection up, and moves on',
    },
    halfOpen: {
      meanwhile:
        'Red operations of the site wait. A record that was stored already is not stored twice',
      recovery: 'The site gives the silent connection up, and moves on',
    },
    demoted: { absentBecause: 'each server forwards to the leader, and requests require one' },
    promoted: { absentBecause: 'a leader without a majority cannot write' },
    moved: {
      meanwhile: 'Red operations of the site wait',
      recovery: 'The name is looked up for each connection, within a second',
    },
    crashed: {
      meanwhile: 'Red operations wait. What was acknowledged is on the disks of a majority',
      recovery: 'Within a second after a majority serves',
    },
    restored: {
      meanwhile:
        'All sites notice it and stop their red log, with the alarm `red-log-halted`. Blue operations go on',
      recovery:
        'By `cluster restore-red`: the sites have the whole log, so nothing that was confirmed is lost',
    },
    credentials: {
      meanwhile: 'The site cannot log in. Red operations wait, and `cluster status` has the reason',
      recovery:
        'The files of the password and of the certificates are read again for each attempt, within a second',
    },
    connections: { absentBecause: 'etcd has no limit of connections, and each site has one' },
    space: {
      meanwhile:
        'Red operations and strong reads fail with `OVERLOADED`, with the alarm `red-log-full`',
      recovery: 'As soon as etcd takes writes again',
    },
    readOnly: {
      meanwhile: 'Without a majority, red operations wait, with the alarm `red-log-unreachable`',
      recovery: 'Within a second after a majority serves',
    },
    migration: { absentBecause: 'the log has no schema' },
    foreignValue: {
      meanwhile:
        'Keys of other programs are ignored. Keys of the log that another program has deleted stop the red log of the sites that lack them, with an alarm',
      recovery: 'Not needed, or by `cluster restore-red`',
    },
    parsers: { absentBecause: 'the client is the own one of the server' },
    callerLeaves: {
      meanwhile:
        'A record of a site that has ended is void at all sites if it lands behind the next start',
      recovery: 'Not needed',
    },
  },
} as const satisfies Column;
