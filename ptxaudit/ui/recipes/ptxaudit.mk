# Audits device code after the build, without a GPU: include it, and make `all` depend on `ptxaudit`.
#
#   PTXAUDIT_INPUTS = app kernels.cubin
#   PTXAUDIT_FLAGS  = --launch launches.toml --fail-on PA001 --baseline ptxaudit-baseline.json
#   PTXAUDIT_DEPENDS = launches.toml ptxaudit-baseline.json tile.cuh
#   include $(shell ptxaudit recipe make --path)
#
# `make ptxaudit` audits if an input or another dependency is newer than the last audit;
# `make ptxaudit-baseline` rewrites the baseline.

PTXAUDIT          ?= ptxaudit
PTXAUDIT_INPUTS   ?=
PTXAUDIT_FLAGS    ?=
PTXAUDIT_DEPENDS  ?=
PTXAUDIT_BASELINE ?= ptxaudit-baseline.json
PTXAUDIT_REPORT   ?= ptxaudit.txt

.PHONY: ptxaudit ptxaudit-baseline

ptxaudit: $(PTXAUDIT_REPORT)

$(PTXAUDIT_REPORT): $(PTXAUDIT_INPUTS) $(PTXAUDIT_DEPENDS)
	$(PTXAUDIT) audit $(PTXAUDIT_INPUTS) $(PTXAUDIT_FLAGS) -o $@.part
	@mv $@.part $@

# PTXAUDIT_BASELINE_FLAGS: the launches and compiler options of PTXAUDIT_FLAGS, without --fail-on and --baseline
ptxaudit-baseline: $(PTXAUDIT_INPUTS)
	$(PTXAUDIT) baseline update $(PTXAUDIT_BASELINE) $(PTXAUDIT_INPUTS) $(PTXAUDIT_BASELINE_FLAGS)
