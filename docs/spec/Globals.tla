---------------------------- MODULE Globals ----------------------------
(* Operations with rows in several red logs: hold, record in the home log, release, abort. One row a log.
   Certification is a function of a log's prefix, so it is done once, when a record lands. Sites apply the logs
   at their own pace, and their snapshots are what they have applied. A site's proposals land late or never. *)
EXTENDS Naturals, Sequences, FiniteSets, TLC
CONSTANTS Logs, Sites,
  Plans,    \* the operations: "two" globals and a local in each log | "one" global, with each way to use the rows
            \* | "pair": two globals | "wide": a global in three logs, and two locals
  Window,   \* the number of stamps that a certifier remembers
  Stops,    \* the number of sites that stop for good
  Copies,   \* the number of records that land twice
  Early,    \* TRUE: an abort at any time | FALSE: only where a hold is missing, or the snapshot is lost
  Off       \* the rule that is left out: "none" | "holds" (G6) | "reads", "writes" (G7) | "stamps", "final" (G8)
            \* | "wait" (G8a) | "refused" (G8b) | "abort" (G8c) | "window", "rejection", "first" (G8d)
VARIABLES plan,   \* by operation: home log, rows that it reads and writes, executing site
          ex,     \* by operation: its execution, or None
          log, net,
          prop,   \* what was proposed, so that nothing is proposed twice
          ap,     \* by site and log: records applied
          hist,   \* by site and row: its writers in the order in which the site applied them
          down, n
vars == <<plan, ex, log, net, prop, ap, hist, down, n>>
None == [t |-> "none"]
Ops == DOMAIN plan
R(o) == plan[o].r
W(o) == plan[o].w
Home(o) == plan[o].home
Others(o) == (R(o) \cup W(o)) \ {Home(o)}
Global(o) == Others(o) # {}
Begun(o) == ex[o].t # "none"
Max(S) == CHOOSE x \in S : \A y \in S : y <= x
Min(S) == CHOOSE x \in S : \A y \in S : x <= y
Zero == [l \in Logs |-> 0]
\* ---- what follows from a log's prefix
Stamps(l) == {log[l][i].stamp : i \in DOMAIN log[l]} \ {0}
Last(l) == Max(Stamps(l) \cup {0})
\* stamps up to this one are forgotten
Start(l) == LET S == {x \in Stamps(l) : Cardinality({y \in Stamps(l) : y >= x}) > Window} IN Max(S \cup {0})
Standing(l) == {o \in Ops : \E i \in DOMAIN log[l] : /\ log[l][i].o = o /\ log[l][i].d = "grant"
                              /\ \A j \in (i + 1)..Len(log[l]) : ~(log[l][j].o = o /\ log[l][j].d \in {"release", "free"})}
HoldStamp(l, o) == Max({log[l][i].stamp : i \in {i \in DOMAIN log[l] : log[l][i].o = o /\ log[l][i].d = "grant"}})
LastWrite(l) == Max({0} \cup {log[l][i].stamp : i \in {i \in DOMAIN log[l] : log[l][i].d \in {"commit", "release"} /\ l \in W(log[l][i].o)}})
Overlaps(l, o) == /\ Off # "holds"
                  /\ \E h \in Standing(l) \ {o} : \/ Off # "reads" /\ l \in W(h)
                                                  \/ Off # "writes" /\ l \in R(h) /\ l \in W(o)
Conflict(l, o) ==
  \/ l \in R(o) /\ LastWrite(l) > ex[o].snap[l] /\ ~(Off = "holds" /\ l # Home(o))
  \/ (l \in R(o) \/ (Global(o) /\ Off # "window")) /\ ex[o].snap[l] < Start(l)
  \/ Overlaps(l, o)
Ended(l, o) == {i \in DOMAIN log[l] : log[l][i].o = o /\ log[l][i].d \in {"commit", "no", "abort"}}
Committed(o) == \E i \in Ended(Home(o), o) : log[Home(o)][i].d = "commit"
\* whether the certifier still knows how the execution ended: commits are in the table of identifiers
Known(l, o) == \E i \in Ended(l, o) : log[l][i].d = "commit" \/ (log[l][i].stamp > Start(l) /\ ~(Off = "rejection" /\ log[l][i].d = "no"))
Held(l, o) == \E i \in DOMAIN log[l] : log[l][i].o = o /\ log[l][i].d \in {"grant", "refuse"} /\ (log[l][i].stamp > Start(l) \/ o \in Standing(l))
Refused(o) == \E l \in Others(o) : (Off # "first" \/ o \notin Standing(l)) /\ \E i \in DOMAIN log[l] : log[l][i].o = o /\ log[l][i].d = "refuse"
Entry(r, d, stamp, need) == [o |-> r.o, d |-> d, stamp |-> stamp, need |-> need]
Decide(r) == LET l == r.l o == r.o s == ex[o].snap
                 next == Last(l) + 1
                 need == [q \in Logs |-> IF Off = "stamps" THEN s[q] ELSE Max({s[q], r.v[q]})] IN
  CASE r.k = "op" /\ Known(l, o) -> Entry(r, "void", 0, Zero)
    [] r.k = "op" /\ ~Known(l, o) /\ Conflict(l, o) -> Entry(r, "no", IF Global(o) THEN next ELSE 0, Zero)
    [] r.k = "op" /\ ~Known(l, o) /\ ~Conflict(l, o) -> Entry(r, "commit", Max({next} \cup {need[q] + 1 : q \in Logs}), need)
    [] r.k = "hold" /\ Off # "first" /\ Held(l, o) -> Entry(r, "void", 0, Zero)
    [] r.k = "hold" /\ ~(Off # "first" /\ Held(l, o)) -> Entry(r, IF Conflict(l, o) THEN "refuse" ELSE "grant", next, Zero)
    [] r.k = "abort" -> IF Known(l, o) THEN Entry(r, "void", 0, Zero) ELSE Entry(r, "abort", next, Zero)
    [] r.k = "release" -> LET g == r.v[Home(o)] IN
         IF o \notin Standing(l) THEN Entry(r, "void", 0, Zero)
         ELSE IF g = 0 THEN Entry(r, "free", next, Zero)
         ELSE Entry(r, "release", Max({next, g + 1}), IF Off = "wait" THEN Zero ELSE r.v)
\* ---- sites
Stable(s, l) == Max({0} \cup {log[l][i].stamp : i \in 1..ap[s][l]})
Covers(s, v, except) == \A q \in Logs \ {except} : v[q] <= Stable(s, q)
Applied(s) == {o \in Ops : Begun(o) /\ \E i \in 1..ap[s][Home(o)] : log[Home(o)][i].o = o /\ log[Home(o)][i].d = "commit"}
Live == Sites \ down
Rec(k, o, l, v) == [k |-> k, o |-> o, l |-> l, v |-> v]
Propose(r) == r \notin prop /\ prop' = prop \cup {r} /\ net' = net \cup {r}
Begin(o) == LET s == plan[o].s IN
  /\ ~Begun(o) /\ s \in Live
  /\ \E blue \in (IF Stops > 0 /\ Global(o) THEN BOOLEAN ELSE {FALSE}) :   \* a blue operation in the snapshot that no other site has
       ex' = [ex EXCEPT ![o] = [t |-> "run", snap |-> [l \in Logs |-> Stable(s, l)], blue |-> blue,
                                seen |-> [l \in Logs |-> IF hist[s][l] = <<>> THEN "none" ELSE hist[s][l][Len(hist[s][l])]],
                                before |-> UNION {Applied(q) : q \in Sites}]]   \* a client may have their answers
  /\ net' = net \cup (IF Global(o) THEN {Rec("hold", o, l, Zero) : l \in Others(o)} ELSE {Rec("op", o, Home(o), Zero)})
  /\ UNCHANGED <<plan, log, prop, ap, hist, down, n>>
Replicate(o) == /\ Begun(o) /\ ex[o].blue /\ plan[o].s \in Live /\ ex' = [ex EXCEPT ![o].blue = FALSE]
                /\ UNCHANGED <<plan, log, net, prop, ap, hist, down, n>>
Commit(o) ==
  /\ Begun(o) /\ Global(o) /\ Ended(Home(o), o) = {} /\ (~ex[o].blue \/ Off = "final")
  /\ \A l \in Others(o) : o \in Standing(l)
  /\ \E s \in Live : Covers(s, ex[o].snap, 0)
  /\ Propose(Rec("op", o, Home(o), [l \in Logs |-> IF l \in Others(o) THEN HoldStamp(l, o) ELSE 0]))
  /\ UNCHANGED <<plan, ex, log, ap, hist, down, n>>
Lost(o) == ex[o].blue /\ plan[o].s \in down
Abort(o) ==
  /\ Off # "abort" /\ Begun(o) /\ Global(o)
  /\ Early \/ Lost(o) \/ \E l \in Others(o) : o \notin Standing(l)
  /\ Ended(Home(o), o) = {} /\ \E l \in Others(o) : o \in Standing(l)
  /\ Propose(Rec("abort", o, Home(o), Zero)) /\ UNCHANGED <<plan, ex, log, ap, hist, down, n>>
Release(o, l) ==
  /\ Begun(o) /\ o \in Standing(l)
  /\ \/ /\ Ended(Home(o), o) # {}
        /\ LET e == log[Home(o)][Min(Ended(Home(o), o))] IN
           IF e.d = "commit" THEN /\ (Off = "wait" \/ \E s \in Live : o \in Applied(s))
                                  /\ Propose(Rec("release", o, l, [Zero EXCEPT ![Home(o)] = e.stamp]))
           ELSE Propose(Rec("release", o, l, Zero))
     \/ /\ Ended(Home(o), o) = {} /\ Refused(o) /\ Off # "refused" /\ Propose(Rec("release", o, l, Zero))
  /\ UNCHANGED <<plan, ex, log, ap, hist, down, n>>
\* ap and hist of a site after the next record of log l
Take(s, l, a, h) == LET e == log'[l][a[l] + 1] IN
  <<[a EXCEPT ![l] = @ + 1], IF e.d = "commit" THEN [q \in Logs |-> IF q \in W(e.o) THEN Append(h[q], e.o) ELSE h[q]] ELSE h>>
Shown(a, q) == Max({0} \cup {log'[q][i].stamp : i \in 1..a[q]})
CanTake(l, a) == a[l] < Len(log'[l]) /\ \A q \in Logs \ {l} : log'[l][a[l] + 1].need[q] <= Shown(a, q)
RECURSIVE TakeAll(_, _, _)
TakeAll(s, a, h) == IF \E l \in Logs : CanTake(l, a)
                    THEN LET l == CHOOSE l \in Logs : CanTake(l, a) t == Take(s, l, a, h) IN TakeAll(s, t[1], t[2])
                    ELSE <<a, h>>
\* site 1 applies at once what it can, the others at any time
Land == \E r \in net :
  /\ log' = [log EXCEPT ![r.l] = Append(@, Decide(r))]
  /\ \/ net' = net \ {r} /\ UNCHANGED n
     \/ n.copy < Copies /\ n' = [n EXCEPT !.copy = @ + 1] /\ UNCHANGED net
  /\ IF 1 \in down THEN UNCHANGED <<ap, hist>>
     ELSE LET t == TakeAll(1, ap[1], hist[1]) IN ap' = [ap EXCEPT ![1] = t[1]] /\ hist' = [hist EXCEPT ![1] = t[2]]
  /\ UNCHANGED <<plan, ex, prop, down>>
Apply(s, l) ==
  /\ UNCHANGED <<plan, ex, log, net, prop, down, n>>
  /\ s # 1 /\ CanTake(l, ap[s])
  /\ LET t == Take(s, l, ap[s], hist[s]) IN ap' = [ap EXCEPT ![s] = t[1]] /\ hist' = [hist EXCEPT ![s] = t[2]]
\* a site stops, and any of its proposals are lost: also between two holds
Stop(s) == /\ n.stop < Stops /\ s \in Live /\ n' = [n EXCEPT !.stop = @ + 1] /\ down' = down \cup {s}
           /\ \E lost \in SUBSET {r \in net : plan[r.o].s = s \/ ~(r.k = "hold" \/ ~Global(r.o))} : net' = net \ lost /\ prop' = prop \ lost
           /\ UNCHANGED <<plan, ex, log, ap, hist>>
Progress == Land \/ (\E s \in Live, l \in Logs : Apply(s, l))
            \/ \E o \in Ops : Replicate(o) \/ Commit(o) \/ Abort(o) \/ \E l \in Logs : Release(o, l)
Next == Progress \/ (\E o \in Ops : Begin(o)) \/ \E s \in Sites : Stop(s)
Op(home, r, w, s) == [home |-> home, r |-> r, w |-> w, s |-> s]
Uses(l) == {<<{l}, {}>>, <<{}, {l}>>, <<{l}, {l}>>}
PlanSet ==
  CASE Plans = "two" -> {[g |-> Op(1, {1, 2}, {1, 2}, 1), h |-> Op(2, {1}, {2}, 2), a |-> Op(1, {1}, {1}, 2), b |-> Op(2, {}, {2}, 1)],
                         [g |-> Op(1, {2}, {1}, 1), h |-> Op(2, {1}, {2}, 2), a |-> Op(1, {1}, {}, 1), b |-> Op(2, {}, {2}, 2)],
                         [g |-> Op(1, {}, {1, 2}, 1), h |-> Op(1, {1}, {2}, 2), a |-> Op(1, {1}, {1}, 1), b |-> Op(2, {2}, {2}, 2)]}
    [] Plans = "one" -> {[g |-> Op(1, x[1] \cup y[1], x[2] \cup y[2], 1), a |-> Op(1, {1}, u, 1), b |-> Op(2, v, {2}, 2)] :
                           x \in Uses(1), y \in Uses(2), u \in {{}, {1}}, v \in {{}, {2}}}
    [] Plans = "pair" -> {[g |-> Op(1, {}, {1, 2}, 1), h |-> Op(2, {}, {1, 2}, 2)]}
    [] Plans = "wide" -> {[g |-> Op(1, {2, 3}, {1, 2}, 1), b |-> Op(2, {2}, {2}, 2), c |-> Op(3, {}, {3}, 2)],
                          [g |-> Op(1, {1}, {2, 3}, 1), b |-> Op(1, {}, {1}, 2), c |-> Op(3, {3}, {3}, 2)]}
Init == /\ plan \in PlanSet /\ ex = [o \in Ops |-> None] /\ log = [l \in Logs |-> <<>>] /\ net = {} /\ prop = {}
        /\ ap = [s \in Sites |-> Zero] /\ hist = [s \in Sites |-> [l \in Logs |-> <<>>]] /\ down = {} /\ n = [stop |-> 0, copy |-> 0]
Spec == Init /\ [][Next]_vars
\* ---- properties
Prefix(a, b) == Len(a) <= Len(b) /\ \A i \in DOMAIN a : a[i] = b[i]
SameOrder == net = {} => \A s, t \in Sites, l \in Logs : Prefix(hist[s][l], hist[t][l]) \/ Prefix(hist[t][l], hist[s][l])
Writers(l) == hist[CHOOSE s \in Sites : \A t \in Sites : Len(hist[t][l]) <= Len(hist[s][l])][l]
Place(l, o) == IF \E i \in DOMAIN Writers(l) : Writers(l)[i] = o THEN CHOOSE i \in DOMAIN Writers(l) : Writers(l)[i] = o ELSE 0
Edge(a, b) == /\ a # b
              /\ \/ a \in ex[b].before
                 \/ \E l \in Logs : LET pa == Place(l, a) pb == Place(l, b) IN
                      \/ pa > 0 /\ pb > pa
                      \/ pa > 0 /\ l \in R(b) /\ ex[b].seen[l] # "none" /\ pa <= Place(l, ex[b].seen[l])
                      \/ pb > 0 /\ l \in R(a) /\ (ex[a].seen[l] = "none" \/ Place(l, ex[a].seen[l]) < pb)
Done == UNION {Applied(s) : s \in Sites}
\* Edges only come, and every run ends, so the last states show each violation.
AllDone == net = {} /\ (\A l \in Logs, s \in Live : ap[s][l] = Len(log[l])) /\ (\A o \in Ops : plan[o].s \in Live => Begun(o))
\* no cycle of conflicts and real time: each set of operations has a first one
StrictlySerializable == AllDone => \A S \in (SUBSET Done) \ {{}} : \E b \in S : \A a \in S : ~Edge(a, b)
OneOutcome == \A o \in Ops : ~(Global(o) /\ Committed(o) /\ \E i \in Ended(Home(o), o) : log[Home(o)][i].d # "commit")
NoLostCause == net = {} => \A o \in Ops : Begun(o) /\ Committed(o) => ~Lost(o)
\* where nothing more happens by itself, no row is held, and all has been applied
NothingStuck == net # {} \/ (\A l \in Logs : Standing(l) = {} /\ \A s \in Live : ap[s][l] = Len(log[l])) \/ ENABLED Progress
====
