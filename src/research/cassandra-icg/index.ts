/**
 * `correctables/research/cassandra-icg`: reads from a Cassandra coordinator that answers each read
 * twice, as in the evaluation of the Correctables paper. Node only. It needs a plugin at the
 * coordinator, so it is not part of the binding.
 */
export { preliminaryReplies, type PreliminaryRepliesOptions } from './preliminary-replies.ts';
