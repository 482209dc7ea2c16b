"""`make crane`: build crane once from its Go module. It validates and copies images, and is a registry."""

import sys

from e2e.programs.building import GoModule

CRANE_MODULE = GoModule("crane", ("github.com/google/go-containerregistry/cmd/crane",), ("crane",))
CRANE = CRANE_MODULE.program("crane")
is_built = CRANE_MODULE.is_built

if __name__ == "__main__":
    sys.exit(CRANE_MODULE.main())
