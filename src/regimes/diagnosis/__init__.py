"""What regime a network was trained in: measured from before and after, in plain words.

The room is called `diagnosis`, so that `regimes.diagnose` can be the function.
"""

from regimes import _door
from regimes.diagnosis._diagnose import diagnose
from regimes.diagnosis._layers import Layer, Moment
from regimes.diagnosis._number import Number
from regimes.diagnosis._result import Diagnosis
from regimes.diagnosis._verdict import Verdict, verdict

__all__ = ["Diagnosis", "Layer", "Moment", "Number", "Verdict", "diagnose", "verdict"]

_door.keep(globals())
