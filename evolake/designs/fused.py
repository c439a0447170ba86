class Inexpressible(Exception):
    pass
class FusedStepper:
    def __init__(self,*a): raise Inexpressible("soon")
