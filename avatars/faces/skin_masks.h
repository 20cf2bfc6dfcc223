// Masks without face parsing: of the lower face, what has the colours of the cheeks or of what surrounds the mouth, so that
// hair, earrings and the background beside the jaw stay as they are. The mouth and the chin are always part of it. Everything lies in
// an ellipse like that of the built-in mask, because a neck has the colours of a face.
#pragma once

#include <string>

#include "avatars/faces/mask_source.h"

namespace navtalk {

class SkinMasks : public MaskSource {
 public:
  std::string name() const override { return "skin"; }
  std::string identity() const override { return "skin 1"; }
  FaceMask mask(ConstImageView frame, const Box& box) override;
};

}  // namespace navtalk
