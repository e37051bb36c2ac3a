perfex: build/tests/programs/steps -leaves
modelled: user 0.000179869 s (model); the run took 0.413052 s (measured); exit status 141 (Broken pipe)
processor: zen3, 3.10 GHz unknown (it scatters) (this host: AMD EPYC (zen3)); source: model

  0 Cycles..........................................           557593  model
 17 Graduated instructions..........................          1174296  model
